/**
 * Kills at random moments while pushes keep coming. The seed is printed; with SEED set to it the moments and the order
 * of pushes are the same again (what the machine does in between is not).
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunObject } from '../../demo/api-objects.ts';
import { terminalStates } from '../../demo/slipway-api.ts';
import { waitFor } from '../../demo/wait.ts';
import {
  patience,
  program,
  type Scenario,
  type ScenarioStack,
  startScenario,
  stash,
} from '../support/scenario.ts';
import { expectTold, killGroup, stateFile, untilGone, workspacesOf } from './evidence.ts';

const kills = 20;
/** Long enough for a whole run to pass now and then; the start of a server and its pushes are not part of it. */
const longestLifeMs = 4000;
const quietWithinMs = 120_000;

interface Accepted {
  readonly to: ScenarioStack;
  readonly sha: string;
}

let scenario: Scenario;
let stacks: readonly ScenarioStack[] = [];
beforeAll(async () => {
  scenario = await startScenario();
  // Each time that an apply begins is noted by the run itself, in the state directory that outlives it.
  const settings = { autodeploy: true, hooks: { beforeApply: ['echo "$SLIPWAY_RUN_ID" >> /state/applies'] } };
  stacks = [await scenario.addStack('random-a', settings), await scenario.addStack('random-b', settings)];
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

test('whatever the moment: no push is lost, no apply happens twice, everybody is told', {
  timeout: 300_000,
}, async () => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
  process.stdout.write(`SEED=${seed}\n`);
  const random = randomFrom(seed);
  const accepted: Accepted[] = [];
  for (let life = 1; life <= kills; life += 1) {
    const until = performance.now() + random() * longestLifeMs;
    const pushing = pushOften(accepted, until, random);
    await delay(Math.max(0, until - performance.now()));
    const family = await killGroup(scenario);
    await pushing;
    await scenario.server.start();
    await untilGone(family);
    await unlock();
  }
  expect(accepted.length).toBeGreaterThan(kills / 2);

  const runs = await untilQuiet();
  const { api } = scenario;
  for (const { to, sha } of accepted) {
    const found = runs.filter(
      ({ stack, run }) => stack === to && run.type === 'TRACKED' && run.commit.hash === sha,
    );
    expect(found, `runs of ${sha}`).toHaveLength(1);
  }
  for (const { run } of runs) {
    await expectTold(scenario, run.id);
    const passed = await scenario.passedStates(run.id);
    expect(passed.filter((state) => state === 'APPLYING').length).toBeLessThanOrEqual(1);
    expect(['FINISHED', 'FAILED']).toContain(run.state);
    // Pulumi's own lock stays when it is killed, until somebody says `pulumi cancel`.
    if (run.state === 'FAILED') expect(run.note).toMatch(/^worker lost|holds the lock of the stack's state/);
  }
  for (const { stack, repository } of stacks) {
    const applies = (await stateFile(scenario, repository, 'applies'))
      .split('\n')
      .filter((line) => line !== '');
    expect(applies.length).toBeGreaterThan(0);
    expect(new Set(applies).size).toBe(applies.length);
    expect((await api.expectSuccess('GET', api.stackPath(stack))).json).toMatchObject({ lock: null });
  }
  await expect.poll(() => workspacesOf(scenario), patience).toEqual([]);
});

/** Until the moment is over or nobody answers; GitHub counts as told what was answered with 202. */
async function pushOften(accepted: Accepted[], until: number, random: () => number): Promise<void> {
  while (performance.now() < until) {
    const to = stacks[random() < 0.5 ? 0 : 1];
    if (!to) throw new Error('there are two stacks');
    const { sha, status } = await scenario.github.commitAndPush(to.repository, {
      branch: 'main',
      message: `Push ${accepted.length}`,
      files: { 'Pulumi.yaml': program(stash('one', `value-${random()}`)) },
      pusher: 'ada',
    });
    if (status === 202) accepted.push({ to, sha });
    await delay(Math.max(0, Math.min(500 + random() * 2500, until - performance.now())));
  }
}

/** As a person would who looked at the real state: the lock after a lost apply is taken off, pulumi's own too. */
async function unlock(): Promise<void> {
  const { api } = scenario;
  for (const { stack } of stacks) await api.expectSuccess('DELETE', `${api.stackPath(stack)}/lock`);
}

async function untilQuiet(): Promise<{ stack: ScenarioStack; run: RunObject }[]> {
  const { api } = scenario;
  async function all() {
    await unlock();
    const lists = stacks.map(async (stack) => (await api.runsOf(stack.stack)).map((run) => ({ stack, run })));
    const runs = (await Promise.all(lists)).flat();
    return runs.every(({ run }) => terminalStates.includes(run.state)) ? runs : null;
  }
  await waitFor('every run to be over', all, { timeoutMs: quietWithinMs, intervalMs: 250 });
  // The proof that nothing is stuck: what is pushed now goes through, behind everything else in the inbox.
  for (const to of stacks) {
    const cancel = await api.startRun(to.stack, { type: 'TASK', command: 'pulumi cancel || true' });
    await api.waitForState(cancel.id, 'FINISHED', quietWithinMs);
    const last = await to.push(program(stash('one', 'the-last')));
    await api.waitForState(last.id, 'FINISHED', quietWithinMs);
  }
  const runs = await waitFor('every run to be over', all, { timeoutMs: quietWithinMs });
  return runs;
}

/** Mulberry32: small, and the same everywhere. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
}
