import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type Commit,
  expectFailure,
  expectServerUnharmed,
  type Failure,
  good,
  javascript,
  push,
} from '../support/bad-input.ts';
import { type Scenario, startScenario } from '../support/scenario.ts';

/** Programs that are broken, each in its own way. */
let scenario: Scenario;
/** By the name of the case. All are pushed at once, so that the workers are never idle. */
const runs = new Map<string, string>();
beforeAll(async () => {
  scenario = await startScenario({ settings: { SANDBOX_NETWORK: 'none' } });
  for (const [name, { commit }] of Object.entries(cases)) {
    const added = await scenario.addStack(name.replace(/\W+/g, '-'), { autodeploy: true });
    runs.set(name, (await push(scenario, added, commit)).id);
  }
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

const yaml = (text: string): Commit => ({ files: { 'Pulumi.yaml': text } });
const seeLog = 'The log of the run has everything that pulumi said';
const leaveAlone = 'no program or hook writes to the file that PULUMI_OPTION_EVENT_LOG names';
/** Statements with the event log of the preview at hand. */
const withEventLog = (code: string) =>
  javascript(`const fs = require('node:fs');\nconst log = process.env.PULUMI_OPTION_EVENT_LOG;\n${code}\n`);

const planning = { outcome: 'tool_failed', while: 'PLANNING' } as const;
const initializing = {
  outcome: 'tool_failed',
  while: 'INITIALIZING',
  hint: 'Correct the file and push.',
} as const;
const unreadable = { outcome: 'plan_unreadable', while: 'PLANNING', hint: leaveAlone } as const;
const ranNothing = {
  ...unreadable,
  says: 'The program declared nothing',
  hint: 'does not exit early',
} as const;

const cases: Readonly<Record<string, { commit: Commit; failure: Failure }>> = {
  'YAML that is none': {
    commit: yaml('name: x\nruntime: yaml\nresources:\n  a:\n   - b: [\n'),
    failure: { ...initializing, says: 'Pulumi.yaml is not valid: invalid YAML file: yaml: line 5' },
  },
  'YAML with tabs': {
    commit: yaml('name: x\n\truntime: yaml\n'),
    failure: { ...initializing, says: 'line 2: found a tab character' },
  },
  'an empty project file': {
    commit: yaml(''),
    failure: { ...initializing, says: 'Pulumi.yaml is not valid: expected project to be an object' },
  },
  'bytes for a project file': {
    commit: yaml('\u0000\u0001\u0002'),
    failure: { ...initializing, says: 'control characters are not allowed' },
  },
  'YAML of another form': {
    commit: yaml('name: x\nruntime: yaml\nresources: 7\n'),
    failure: { ...planning, says: 'Pulumi.yaml:3,12-13: resources must be an object', hint: seeLog },
  },
  'a resource that nobody knows': {
    commit: yaml('name: x\nruntime: yaml\nresources:\n  a:\n    type: pulumi:Nope\n'),
    failure: { ...planning, says: 'unable to find resource type "pulumi:Nope"', hint: seeLog },
  },
  'a provider that cannot be downloaded': {
    commit: yaml('name: x\nruntime: yaml\nresources:\n  a:\n    type: random:RandomPet\n'),
    failure: {
      ...planning,
      says: 'The provider plugin random could not be downloaded',
      hint: 'SANDBOX_NETWORK',
    },
  },
  'a version of a provider that cannot be downloaded': {
    commit: yaml(
      'name: x\nruntime: yaml\nresources:\n  a:\n    type: random:RandomPet\n    options: {version: 4.16.0}\n',
    ),
    failure: {
      ...planning,
      says: 'The provider plugin random could not be downloaded',
      hint: 'SANDBOX_NETWORK',
    },
  },
  'a language without a host': {
    commit: yaml('name: x\nruntime: cobol\n'),
    failure: {
      ...planning,
      says: 'This server has no language host for cobol',
      hint: 'complete distribution',
    },
  },
  'no language at all': { commit: yaml('name: x\n'), failure: ranNothing },
  'a `main` that is not there': {
    commit: yaml('name: x\nruntime: yaml\nmain: gone\n'),
    failure: {
      ...planning,
      says: '`main` in Pulumi.yaml leads to a place that is not there',
      hint: 'Correct `main`',
    },
  },
  'a `main` out of the repository': {
    commit: yaml('name: x\nruntime: yaml\nmain: ../../etc\n'),
    failure: { ...planning, says: 'The language host crashed', hint: 'Check `main`' },
  },
  'a version of pulumi that is not here': {
    commit: yaml('name: x\nruntime: yaml\nrequiredPulumiVersion: ">=99.0.0"\n'),
    failure: { ...planning, says: 'The project asks for pulumi >=99.0.0', hint: 'requiredPulumiVersion' },
  },
  'JavaScript without its dependencies': {
    commit: { files: { 'Pulumi.yaml': 'name: x\nruntime: nodejs\n', 'index.js': '' } },
    failure: { ...planning, says: 'The Pulumi SDK is not installed', hint: 'before_init hook: `npm ci`' },
  },
  'Python without its dependencies': {
    commit: { files: { 'Pulumi.yaml': 'name: x\nruntime: python\n', '__main__.py': 'import pulumi\n' } },
    failure: { ...planning, says: 'The Pulumi SDK is not installed', hint: 'pip install' },
  },
  'a syntax error': {
    commit: javascript('const x = ;\n'),
    failure: { ...planning, says: 'The program ended with exit code 1.', hint: seeLog },
  },
  'an exception': {
    commit: javascript("throw new Error('no such region');\n"),
    failure: { ...planning, says: 'The program ended with exit code 1.', hint: seeLog },
  },
  'an exit code': {
    commit: javascript('process.exit(3);\n'),
    failure: { ...planning, says: 'The program ended with exit code 3.', hint: seeLog },
  },
  'exit 0 without running anything': { commit: javascript('process.exit(0);\n'), failure: ranNothing },
  'the words of a preview, and exit 0': {
    commit: javascript(
      "console.log('Previewing update (dev):\\nResources:\\n    1 unchanged\\nUpdate plan written');\n",
    ),
    failure: ranNothing,
  },
  suicide: {
    commit: javascript("process.kill(process.pid, 'SIGKILL');\n"),
    failure: { ...planning, says: 'The program was killed.', hint: seeLog },
  },
  'the death of every process that it sees': {
    commit: javascript("process.kill(-1, 'SIGKILL');\n"),
    failure: { ...planning, says: 'pulumi was killed by SIGKILL', hint: 'no program or hook kills it' },
  },
  'rubbish in the event log': {
    commit: withEventLog("fs.appendFileSync(log, 'rubbish\\n');"),
    failure: { ...unreadable, says: 'The event log of pulumi is damaged: line' },
  },
  'an event log of its own': {
    commit: withEventLog(
      `fs.rmSync(log);\nfs.writeFileSync(log, '{"sequence":0,"preludeEvent":{}}\\n{"sequence":1,"cancelEvent":{}}\\n');`,
    ),
    failure: { ...unreadable, says: 'The event log of pulumi is damaged: it has no summary' },
  },
  'a whole event log that says that all is well': {
    commit: withEventLog(
      `fs.rmSync(log);\nfs.writeFileSync(log, '{"sequence":0,"summaryEvent":{"isPreview":true,"result":"succeeded","resourceChanges":{"same":1}}}\\n{"sequence":1,"cancelEvent":{}}\\n');`,
    ),
    failure: ranNothing,
  },
  'an event log cut short': {
    commit: withEventLog('fs.truncateSync(log, 10);'),
    failure: { ...unreadable, says: 'The event log of pulumi is damaged' },
  },
  'an event log of a gigabyte': {
    commit: withEventLog('fs.truncateSync(log, 1024 ** 3);'),
    failure: { ...unreadable, says: 'left no event log, or one that is too large' },
  },
  'no event log any more': {
    commit: withEventLog('fs.rmSync(log);'),
    failure: { ...unreadable, says: 'left no event log' },
  },
  'a link for an event log': {
    commit: withEventLog("fs.rmSync(log);\nfs.symlinkSync('/etc/passwd', log);"),
    failure: { ...unreadable, says: 'left no event log' },
  },
};

test.each(Object.entries(cases))('%s', async (name, { failure }) => {
  const id = runs.get(name) ?? '';
  const run = await expectFailure(scenario, id, failure);
  expect(run).not.toHaveProperty('delta');
  expect(await scenario.commandLines(id)).not.toContainEqual(expect.stringMatching(/^pulumi up/));
});

test('a program that declares nothing any more does not delete what there is', async () => {
  const added = await scenario.addStack('emptied', { autodeploy: true });
  await scenario.api.waitForState((await push(scenario, added, good)).id, 'FINISHED');
  await expectFailure(scenario, (await push(scenario, added, yaml('name: scenario\n'))).id, ranNothing);
});

test('the server takes no harm', () => expectServerUnharmed(scenario, 'unharmed'));
