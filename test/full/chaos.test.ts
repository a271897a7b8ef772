/**
 * Kills at random moments while GitHub pushes and people act. The seed is printed; with SEED set to it the choices are the
 * same again (what the machine does in between is not). `npm run chaos` does the same, longer.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { median } from '../../bench/figure.ts';
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
import { createLoad, type Load, type Push } from './chaos/load.ts';
import { createMoments } from './chaos/moments.ts';
import { type Random, randomFrom } from './chaos/random.ts';
import { expectTold, killGroup, stateFile, untilGone, workspacesOf } from './evidence.ts';

const kills = Number(process.env['KILLS'] ?? 100);
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const quietWithinMs = 240_000;
const longestStartMs = 1500;
const conclusions: Readonly<Record<string, string>> = {
  ...{ FINISHED: 'success', FAILED: 'failure' },
  ...{ CANCELED: 'cancelled', STOPPED: 'cancelled', DISCARDED: 'cancelled' },
};
const changing = ['APPLYING', 'DESTROYING', 'PERFORMING'];

const starts: number[] = [];
let scenario: Scenario;
let stacks: readonly ScenarioStack[] = [];
beforeAll(async () => {
  scenario = await startScenario({ settings: { WORKERS: '3' } });
  // Each time that something begins to change is noted by the run itself, in the state that outlives it.
  const note = (file: string) => [`echo "$SLIPWAY_RUN_ID" >> /state/${file}`];
  const hooks = {
    // What a killed pulumi leaves, and a person takes off who has looked.
    beforeInit: ['rm -rf /state/.pulumi/locks'],
    ...{ beforeApply: note('changed'), beforeDestroy: note('changed'), beforePerform: note('changed') },
    afterRun: note('ended'),
  };
  stacks = await Promise.all([
    scenario.addStack('auto-a', { hooks, autodeploy: true }),
    scenario.addStack('auto-b', { hooks, autodeploy: true }),
    scenario.addStack('asking', { hooks }),
  ]);
  for (const stack of stacks) await untilFinished(stack, 'the-first');
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

test('whatever the moment: nothing is lost, nothing happens twice, everybody is told', {
  timeout: 2 * quietWithinMs + kills * 20_000,
}, async () => {
  say(`SEED=${seed} KILLS=${kills}`);
  const random = randomFrom(seed);
  const load = createLoad(scenario, stacks, random);
  const moments = createMoments(scenario, load, random);
  let killed = 0;
  for (let lives = 1; killed < kills; lives += 1) {
    const moment = moments.next();
    const ending = new AbortController();
    const busy = load.until(ending.signal);
    await moment.come();
    const families = [await killGroup(scenario)];
    killed += 1;
    ending.abort();
    await busy;
    // Recovering what was under way is under way itself.
    for (; killed < kills && random() < 0.3; killed += 1) families.push(await killWhileStarting(random));
    await start();
    for (const family of families) await untilGone(family);
    await load.settle();
    if (lives % 10 === 0) {
      say(
        `${killed} of ${kills} kills, the last ${moment.name}; ${load.pushes.length} pushes, ${load.promised.length} commands`,
      );
    }
  }
  say(`the median of ${starts.length} starts is ${Math.round(median(starts))} ms`);
  await untilQuiet(load);
  await expectNothingLost(load);
});

const say = (line: string) => void process.stdout.write(`chaos: ${line}\n`);

async function start(): Promise<void> {
  const from = performance.now();
  await scenario.server.start();
  starts.push(performance.now() - from);
}

async function killWhileStarting(random: Random) {
  const starting = scenario.server.start().catch(() => undefined);
  await delay(random() * longestStartMs);
  const family = await killGroup(scenario);
  await starting;
  return family;
}

async function untilQuiet(load: Load): Promise<void> {
  const isQuiet = async () => {
    await load.settle();
    return (await load.runs()).every(({ run }) => terminalStates.includes(run.state));
  };
  await waitFor('every run to be over', isQuiet, { timeoutMs: quietWithinMs, intervalMs: 250 });
  // The proof that nothing is stuck: what is pushed now goes through, behind everything else in the inbox.
  for (const stack of stacks) await untilFinished(stack, 'the-last');
}

async function untilFinished({ push }: ScenarioStack, value: string): Promise<void> {
  const { api } = scenario;
  const { id } = await push(program(stash('one', value)));
  const { state } = await api.waitForState(id, ['UNCONFIRMED', 'FINISHED'], quietWithinMs);
  if (state === 'UNCONFIRMED') await api.act(id, 'confirm');
  await api.waitForState(id, 'FINISHED', quietWithinMs);
}

async function expectNothingLost(load: Load): Promise<void> {
  const { api, github } = scenario;
  const runs = await load.runs();
  /** Runs of what came behind a push, on its branch or not. */
  const newerThan = (push: Push) => {
    const notNewer = new Set(load.pushes.slice(0, load.pushes.indexOf(push) + 1).map(({ sha }) => sha));
    return runs.filter(({ of, run }) => of === push.to && !notNewer.has(run.commit.hash));
  };
  const ended = new Map<string, number>();
  for (const { run } of runs) ended.set(run.state, (ended.get(run.state) ?? 0) + 1);
  say(`${runs.length} runs: ${[...ended].map(([state, count]) => `${count} ${state}`).join(', ')}`);

  for (const push of load.pushes) {
    const { to, sha, type, isAccepted, deliveryId } = push;
    const found = runs.filter(({ of, run }) => of === to && run.type === type && run.commit.hash === sha);
    expect(found.length, `${type} runs of ${sha}`).toBeLessThanOrEqual(1);
    // One whose handling was killed is tried again a little later: then newer ones may have passed it.
    if (isAccepted && found.length === 0) await expectPassed(deliveryId, newerThan(push));
  }
  for (const { run, state, stateVersion } of load.promised) {
    expect((await api.states(run))[stateVersion - 1]).toMatchObject({ state, stateVersion });
  }
  for (const { run } of runs) {
    await expectTold(scenario, run.id);
    const passed = await scenario.passedStates(run.id);
    expect(passed.filter((state) => changing.includes(state)).length).toBeLessThanOrEqual(1);
    if (run.state === 'FAILED') expect(run.note).toMatch(/^worker lost/);
    await scenario.waitForCheckRun(run.id, conclusions[run.state] ?? '');
    expect(github.checkRuns.filter(({ externalId }) => externalId === run.id)).toHaveLength(1);
  }
  for (const { stack, repository } of stacks) {
    for (const file of ['changed', 'ended']) {
      const lines = (await stateFile(scenario, repository, file)).split('\n').filter((line) => line !== '');
      expect(lines.length).toBeGreaterThan(0);
      expect(new Set(lines).size, `no run is noted twice in ${file}`).toBe(lines.length);
    }
    expect((await api.expectSuccess('GET', api.stackPath(stack))).json).toMatchObject({ lock: null });
  }
  await expect.poll(() => workspacesOf(scenario), patience).toEqual([]);
}

/** The delivery started nothing because a newer commit of its branch had its run already. */
async function expectPassed(deliveryId: string, newer: readonly { run: { id: string } }[]): Promise<void> {
  const { json } = await scenario.api.expectSuccess('GET', `/api/v1/inbox/${deliveryId}`);
  const { note } = json as { note: string };
  const [, runId] = /is older than the commit of run (\w+)/.exec(note) ?? [];
  expect(
    newer.map(({ run }) => run.id),
    note,
  ).toContain(runId);
}
