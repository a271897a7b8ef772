import { expect, test } from 'vitest';
import type { RunType } from '../../../src/runs/run.ts';
import { person } from '../../support/builders.ts';
import { branchHead } from '../installation.ts';
import { openBrowser } from './browser.ts';

test.each<[RunType, isUntrusted: boolean, trust: string, seen: string]>([
  [
    ...(['PROPOSED', true, 'untrusted: it comes from a fork, or from a bot that is not trusted'] as const),
    'runs without secrets: its commands see only plain variables of access “all”.',
  ],
  [
    ...(['PROPOSED', false, 'branch: a preview of a branch of the repository'] as const),
    'commands see the variables of access “all”. They work with a copy of the cache of the repository',
  ],
  [
    ...(['TRACKED', false, 'tracked: what is to be deployed'] as const),
    'variables of access “all” and “tracked”, and once it applies those of “apply”. They work with the cache of the repository',
  ],
  [
    ...(['TASK', false, 'apply: a command of somebody who may deploy'] as const),
    'commands see the variables of access “all”, “tracked” and “apply”.',
  ],
])('the page of a %s run (untrusted: %s) says that it is %s', async (type, isUntrusted, trust, seen) => {
  await using all = openBrowser();
  const { installation } = all;
  const stack = await installation.addStack('Network Prod');
  const run = await installation.commands.create({
    ...{ stackKey: stack.key, type, branch: 'topic', commit: branchHead, isUntrusted },
    ...{ by: person('ada'), dedupeKey: null, command: 'ls' },
  });
  if (run === 'duplicate') throw new Error('cannot be');
  installation.roles.set('ada', 'reader');
  await all.logIn();

  const { text } = await all.visit(`/runs/${run.id}/details`);

  const [, said = ''] = /<dt>Trust<\/dt><dd>(.*?)<\/dd>/s.exec(text) ?? [];
  expect(said).toContain(trust);
  expect(said).toContain(seen);
  expect(said.includes('only the hosts that the server lists')).toBe(isUntrusted);
});
