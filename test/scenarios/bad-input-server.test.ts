import { copyFileSync, linkSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { findTool, toolCacheDir } from '../../src/tools.ts';
import { expectFailure, good, push } from '../support/bad-input.ts';
import { patience, startScenario } from '../support/scenario.ts';
import { tempDirectory } from '../support/temp-database.ts';

/** What a server lacks, and what GitHub has no more. */
const preparing = { while: 'PREPARING' } as const;

test('a pulumi that talks nonsense: no run is tried with it, and doctor, readiness and run say why', async () => {
  using directory = tempDirectory();
  const pulumi = join(directory.path, 'pulumi');
  writeFileSync(pulumi, '#!/bin/sh\necho I am not pulumi\n', { mode: 0o755 });
  await using scenario = await startScenario({ settings: { PULUMI_PATH: pulumi } });
  const added = await scenario.addStack('nonsense');
  const { id } = await push(scenario, added, good);
  await expectFailure(scenario, id, {
    ...preparing,
    outcome: 'tool_missing',
    says: 'pulumi did not answer to `pulumi version`',
    hint: '`slipway doctor` on the server',
  });
  const { status, json } = await scenario.api.request('GET', '/readyz');
  expect(status).toBe(503);
  expect(json).toMatchObject({ checks: { tools: { ok: false } } });
});

test('a pulumi and a git that vanish while the server runs are missed by the runs, and found again', async () => {
  using directory = tempDirectory();
  const git = join(directory.path, 'path/git');
  linkPrograms(dirname(git));
  const pulumi = copyPulumi(join(directory.path, 'pulumi'));
  await using scenario = await startScenario({ settings: { PATH: dirname(git), PULUMI_PATH: pulumi } });
  const added = await scenario.addStack('vanishing', { autodeploy: true });
  const { api } = scenario;
  await api.waitForState((await push(scenario, added, good)).id, 'FINISHED');
  const retry = async () => (await api.startRun(added.stack, { type: 'TRACKED' })).id;

  rmSync(git);
  await expectFailure(scenario, await retry(), {
    ...preparing,
    outcome: 'source_unavailable',
    says: 'git could not be started on the server',
    hint: 'on the PATH of the server',
  });
  expect((await api.request('GET', '/readyz')).json).toMatchObject({
    checks: { tools: { ok: false, detail: 'git was not found' } },
  });
  symlinkSync('/usr/bin/git', git);

  rmSync(dirname(pulumi), { recursive: true });
  await expectFailure(scenario, await retry(), {
    ...preparing,
    outcome: 'tool_missing',
    says: 'is not there any more',
    hint: '`slipway doctor` on the server',
  });
  copyPulumi(dirname(pulumi));
  await api.waitForState(await retry(), 'FINISHED');
});

test('a commit that was pushed away, and a repository that was taken from the App', async () => {
  await using scenario = await startScenario();
  const { api, github } = scenario;
  // The first run holds the stack, so that the second is fetched only when its commit is gone.
  const added = await scenario.addStack('rewritten');
  const holder = await push(scenario, added, good);
  await api.waitForState(holder.id, 'UNCONFIRMED');
  const lost = await push(scenario, added, { files: { 'Pulumi.yaml': `${good.files?.['Pulumi.yaml']}\n` } });
  await github.setBranch(added.repository, 'main', holder.commit.hash);
  await execa('git', [`--git-dir=${added.repository.gitDir}`, 'gc', '--quiet', '--prune=now']);
  await api.act(holder.id, 'discard');
  await expectFailure(scenario, lost.id, {
    ...preparing,
    outcome: 'source_unavailable',
    says: 'The commit is no longer in the repository',
    hint: 'A forced push may have removed it',
  });

  await github.setInstalled(added.repository, false);
  const refused = await api.request('POST', `${api.stackPath(added.stack)}/runs`, { type: 'TRACKED' });
  expect(refused.json).toMatchObject({ status: expect.any(Number), detail: expect.any(String) });
  expect(refused.status).not.toBe(500);
  // As soon as the server has heard of it.
  const stack = async () => (await api.request('GET', api.stackPath(added.stack))).json;
  await expect.poll(stack, patience).toMatchObject({ away: 'removed' });
  const retried = await api.request('POST', `/api/v1/runs/${lost.id}/retry`);
  expect(retried.json).toMatchObject({ status: 409, code: 'repository-away' });
  expect(retried.json).toMatchObject({
    detail: expect.stringContaining('does not see acme/rewritten any more'),
  });
});

/** Every program of this machine by a link in one directory. */
function linkPrograms(directory: string): void {
  mkdirSync(directory, { recursive: true });
  for (const name of readdirSync('/usr/bin')) symlinkSync(join('/usr/bin', name), join(directory, name));
}

/** The files of pulumi in a directory of their own; gives the program. */
function copyPulumi(directory: string): string {
  mkdirSync(directory, { recursive: true });
  const cacheDir = toolCacheDir(homedir(), process.env['XDG_CACHE_HOME']);
  const setting = process.env['PULUMI_PATH'];
  const found = findTool('pulumi', { setting, path: process.env['PATH'] ?? '', cacheDir });
  if (!found) throw new Error('no pulumi');
  for (const name of readdirSync(dirname(found.path)).filter((file) => file.startsWith('pulumi'))) {
    const from = join(dirname(found.path), name);
    try {
      linkSync(from, join(directory, name));
    } catch {
      copyFileSync(from, join(directory, name));
    }
  }
  return join(directory, basename(found.path));
}
