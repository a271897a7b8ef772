/** What every failed run must look like from outside, whoever made the mistake. */
import { expect } from 'vitest';
import type { RunObject } from '../../demo/api-objects.ts';
import type { CommitInput } from '../../demo/github/git/objects.ts';
import { program, type Scenario, type ScenarioStack, stash } from './scenario.ts';

export interface Failure {
  readonly outcome: string;
  /** In the first line of the note. */
  readonly says: string;
  /** In the last line of the note. */
  readonly hint: string;
  /** The state in which it failed. */
  readonly while: 'PREPARING' | 'INITIALIZING' | 'PLANNING' | 'APPLYING' | 'PERFORMING';
}

export type Commit = Pick<CommitInput, 'files' | 'symlinks' | 'executable'>;

/** A program without a mistake. */
export const good: Commit = { files: { 'Pulumi.yaml': program(stash('one', '1')) } };

/** A program in JavaScript, and a stand-in for the SDK that does nothing but run it: no network, and no help. */
export function javascript(index: string): Commit {
  return {
    files: {
      'Pulumi.yaml': 'name: scenario\nruntime: nodejs\n',
      'package.json': '{"main": "index.js"}\n',
      'index.js': index,
      'node_modules/@pulumi/pulumi/package.json': '{"name": "@pulumi/pulumi", "version": "3.100.0"}\n',
      'node_modules/@pulumi/pulumi/cmd/run/index.js': "require(require('node:path').resolve('index.js'));\n",
    },
  };
}

/** Pushes to the stack's branch and gives the run that this made. */
export async function push(
  { api, github }: Scenario,
  { stack, repository }: ScenarioStack,
  commit: Commit,
  branch = 'main',
): Promise<RunObject> {
  const change = { branch, message: 'Change the program', pusher: 'ada', ...commit };
  const pushed = await github.commitAndPush(repository, change);
  expect(pushed.status).toBe(202);
  return api.waitForRun(stack, pushed.sha);
}

/** One line says what happened, one what to do; on the run, on GitHub and in the feed, and no trace of our own. */
export async function expectFailure(scenario: Scenario, runId: string, failure: Failure): Promise<RunObject> {
  const { api } = scenario;
  const run = await api.waitForState(runId, 'FAILED');
  const lines = (run.note ?? '').split('\n');
  expect.soft(lines[0]).toContain(failure.says);
  expect.soft(lines.at(-1)).toContain(failure.hint);
  expect.soft(lines.length).toBeGreaterThan(1);
  expect.soft(run.outcome).toBe(failure.outcome);
  expect.soft((await scenario.passedStates(runId)).slice(-2)).toEqual([failure.while, 'FAILED']);
  expect.soft((await api.states(runId)).at(-1)).toMatchObject({ state: 'FAILED', note: run.note });

  const check = await scenario.waitForCheckRun(runId, 'failure');
  expect.soft(check.output?.summary).toContain(lines[0]);
  expect.soft(check.output?.summary).toContain(lines.at(-1));
  await scenario.expectWebhooksToTell(runId);
  for (const told of [run.note ?? '', check.output?.summary ?? '']) expect(told).not.toMatch(frameOfOurs);
  return run;
}

/** A place in our sources. Traces of people's own programs name their files, which is what they are for. */
const frameOfOurs = /src\/[\w/-]+\.ts\b|node:internal\/process/;

/** After all the mistakes: nothing that the server holds for a bug of its own, and it still does its work. */
export async function expectServerUnharmed(scenario: Scenario, name: string): Promise<void> {
  const log = await scenario.server.log();
  const complaints = log
    .split('\n')
    .filter((line) => /"level":(50|60)\b/.test(line) || frameOfOurs.test(line));
  expect(complaints).toEqual([]);
  const added = await scenario.addStack(name, { autodeploy: true });
  await scenario.api.waitForState((await push(scenario, added, good)).id, 'FINISHED');
}
