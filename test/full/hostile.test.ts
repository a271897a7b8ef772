/** Hostile repositories, pushed through the whole app. What counts is what is to be seen outside of the sandbox. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { formsOf } from '../../demo/secret-search.ts';
import { waitFor } from '../../demo/wait.ts';
import {
  patience,
  program,
  type Scenario,
  type ScenarioStack,
  startScenario,
  stash,
} from '../support/scenario.ts';
import { attackScript, hostileProgram, plainSource, proxyFunction } from './attack-script.ts';
import { addressOfMachine, type Bait, breaches, filesLeft, startBait } from './bait.ts';
import { expectTold, hostProcesses, stateFile } from './evidence.ts';

const memoryMegabytes = 1024;
const simple = program(stash('one', 'first'));
const mark = `7${process.pid}${Date.now() % 100_000}`;

let scenario: Scenario;
let bait: Bait;
beforeAll(async () => {
  bait = await startBait();
  // Enough for a preview, and little enough to be eaten on a machine that others use.
  scenario = await startScenario({ settings: { SANDBOX_MEMORY_MB: String(memoryMegabytes) } });
});
afterAll(async () => {
  await scenario?.[Symbol.asyncDispose]();
  await bait?.[Symbol.asyncDispose]();
});

/** Whatever a repository did: the server is well, nothing of it runs any more, nobody came, no secret is told. */
afterEach(async () => {
  expect((await fetch(`${scenario.server.url}/readyz`)).status).toBe(200);
  const left = () => hostProcesses().filter(({ command }) => command.includes(mark));
  await expect.poll(left, patience).toEqual([]);
  expect(bait.hits()).toBe(0);
  const { server, github, receiver, dataDir, dir, token, githubSecret } = scenario;
  const key = await readFile(join(dataDir, 'secret.key'));
  const appKey = (await readFile(join(dir, 'app.pem'), 'utf8')).split('\n')[2] ?? '';
  const seen = JSON.stringify([
    await server.log(),
    github.requests.map(({ body }) => body),
    receiver.received,
    await logsOfAll(),
  ]);
  const text = key.toString('utf8').trim();
  for (const secret of [token, githubSecret, receiver.secret, appKey, key.toString('hex'), text]) {
    expect(secret.length).toBeGreaterThan(12);
    expect(formsOf(secret).filter((form) => seen.includes(form))).toEqual([]);
  }
});

const stacks: ScenarioStack[] = [];
async function addStack(name: string, settings: Record<string, unknown> = {}): Promise<ScenarioStack> {
  const added = await scenario.addStack(name, settings);
  stacks.push(added);
  return added;
}

async function logsOfAll(): Promise<string> {
  const { api } = scenario;
  const runs = await Promise.all(stacks.map(({ stack }) => api.runsOf(stack)));
  const logs = await Promise.all(runs.flat().map(({ id }) => api.log(id)));
  // A flood is told apart from the rest by its size, and has nothing in it.
  return logs.map((log) => log.slice(0, 1_000_000)).join('\n');
}

async function pushFiles(
  to: ScenarioStack,
  files: Record<string, string>,
  symlinks: Record<string, string> = {},
) {
  const commit = { branch: 'main', message: 'Attack', files, symlinks, pusher: 'ada' };
  const { sha } = await scenario.github.commitAndPush(to.repository, commit);
  return scenario.api.waitForRun(to.stack, sha);
}

test('reads, writes, connections and daemons of hooks and programs get nowhere', async () => {
  const { api, server, dataDir } = scenario;
  const other = await addStack('neighbour');
  const waiting = await other.push(simple);
  await api.waitForState(waiting.id, 'UNCONFIRMED');
  expect(existsSync(join(dataDir, 'workspaces', waiting.id, 'tree', 'Pulumi.yaml'))).toBe(true);

  const attack = attackScript({
    ...{ dataDir, mark, listenerPort: bait.port, ownAddress: addressOfMachine() },
    serverPid: server.pid,
    serverPort: Number(new URL(server.url).port),
    otherRun: waiting.id,
  });
  const hostile = await addStack('attacker', { hooks: { beforePlan: ['bash attack.sh'] } });
  const { id } = await pushFiles(hostile, {
    'Pulumi.yaml': hostileProgram,
    'attack.sh': proxyFunction + attack,
    // Pulumi shows nothing of a compiler that succeeds, so what it finds goes to the state directory.
    'compile.sh': `bash attack.sh > /state/attack.log 2>&1\ncat <<'END'\n${plainSource}\nEND\n`,
  });
  await api.waitForState(id, ['UNCONFIRMED', 'FAILED'], 120_000);
  const ofHook = await api.log(id);
  const ofProgram = await stateFile(scenario, hostile.repository, 'attack.log');
  const log = ofHook + ofProgram;
  expect(breaches(log)).toEqual([]);
  expect(ofHook).toContain('attack-over, 14 refusals');
  expect(ofProgram).toContain('attack-over, 14 refusals');
  expect(bait.hits()).toBe(0);
  expect(filesLeft(mark, dataDir)).toEqual([]);
  expect(await api.run(waiting.id)).toMatchObject({ state: 'UNCONFIRMED' });
  await expectTold(scenario, id);
});

test('a fork bomb is the end of its own run at most', async () => {
  const { api } = scenario;
  const bomb = `bomb() { sleep ${mark} & bomb & bomb & }; bomb 2>/dev/null; sleep 4; exit 3`;
  const { push } = await addStack('bomber', { hooks: { beforePlan: [bomb] } });
  const { id } = await push(simple);
  await waitFor(
    'the bomb',
    () => hostProcesses().filter(({ command }) => command.includes(mark)).length > 50,
    {
      timeoutMs: 30_000,
    },
  );
  expect((await fetch(`${scenario.server.url}/readyz`)).status).toBe(200);
  await api.waitForState(id, 'FAILED', 120_000);
  const beside = await addStack('beside');
  await api.waitForState((await beside.push(simple)).id, 'UNCONFIRMED');
});

test('a hook that eats memory is killed with all its processes, and nobody else is', async () => {
  const { api } = scenario;
  // Three that are small enough each, one of them away from its session and its parents.
  const eat = `(head -c 450M /dev/zero; sleep 60; : ${mark}) | tail -n 1 > /dev/null`;
  const glutton = await addStack('glutton', {
    hooks: { beforePlan: [`${eat} & setsid -f bash -c '${eat}'; ${eat}`] },
  });
  const beside = await addStack('modest');
  const [eating, modest] = await Promise.all([glutton.push(simple), beside.push(simple)]);
  const ended = await api.waitForState(eating.id, 'FAILED', 120_000);

  expect(ended.outcome).toBe('out_of_memory');
  expect(ended.note).toMatch(/its processes together held 1(\.\d)? GiB of memory, .* and may hold 1 GiB\./);
  expect((await fetch(`${scenario.server.url}/readyz`)).status).toBe(200);
  await api.waitForState(modest.id, 'UNCONFIRMED');
  expect(await api.log(eating.id, 'planning')).toMatch(/\[out_of_memory: .* may hold 1 GiB\. Killed in /);
  const check = await scenario.waitForCheckRun(eating.id, 'failure');
  expect(check.output?.summary).toContain('may hold 1 GiB');
  await expectTold(scenario, eating.id);
});

test('a flood of output is cut at the cap', async () => {
  const { api } = scenario;
  const { push } = await addStack('flooder', { hooks: { beforePlan: ['yes "flood flood flood"'] } });
  const { id } = await push(simple);
  expect(await api.waitForState(id, 'FAILED', 120_000)).toMatchObject({ outcome: 'output_limit' });
  const { text } = await api.request('GET', `/api/v1/runs/${id}/logs?phase=planning`);
  expect(text.length).toBeLessThanOrEqual(65 * 1024 * 1024);
  expect(text.slice(-200)).toContain(
    '[output_limit: more than 64 MiB in this phase; what followed is not kept.',
  );
  const check = await scenario.waitForCheckRun(id, 'failure');
  expect(check.output?.summary).toContain('64 MiB of output');
  await expectTold(scenario, id);
});

test('a project root that leads out of the checkout is refused, from the commit or made later', async () => {
  const { api, dataDir } = scenario;
  const linked = await addStack('linked', { projectRoot: 'infra' });
  const first = await pushFiles(linked, { 'other/Pulumi.yaml': simple }, { infra: dataDir });
  const refused = await api.waitForState(first.id, 'FAILED');
  expect(refused).toMatchObject({ outcome: 'project_unusable' });

  const later = `cd .. && rm -rf infra && ln -s "${dataDir}" infra`;
  const swapped = await addStack('swapped', { projectRoot: 'infra', hooks: { afterPlan: [later] } });
  const second = await pushFiles(swapped, { 'infra/Pulumi.yaml': simple });
  expect(await api.waitForState(second.id, 'FAILED')).toMatchObject({
    outcome: 'project_unusable',
    note: expect.stringContaining('leads out of the repository'),
  });
});

test.for(['events.jsonl', 'plan.json'])(
  'a %s that is a link to the key of the server is not read',
  async (file) => {
    const { api, dataDir } = scenario;
    const to = await addStack(`steers-${file.slice(0, 4)}`, { autodeploy: true });
    const { id } = await pushFiles(to, {
      'Pulumi.yaml': hostileProgram,
      'compile.sh': `rm -f /output/${file}\nln -s "${dataDir}/secret.key" /output/${file} && readlink /output/${file} > /state/steered\ncat <<'END'\n${plainSource}\nEND\n`,
    });
    const run = await api.waitForState(id, 'FAILED');
    expect(['plan_unreadable', 'tool_failed']).toContain(run.outcome);
    expect(await stateFile(scenario, to.repository, 'steered')).toBe(`${dataDir}/secret.key\n`);
    await expectTold(scenario, id);
  },
);

test('exports that are a link to the key of the server are not read', async () => {
  const { api, dataDir } = scenario;
  const steer = `trap - EXIT; rm -f "$SLIPWAY_EXPORTS"; ln -s "${dataDir}/secret.key" "$SLIPWAY_EXPORTS" && echo steered`;
  const { push } = await addStack('steers-exports', { hooks: { beforePlan: [steer] } });
  const { id } = await push(simple);
  await api.waitForState(id, 'UNCONFIRMED');
  const log = await api.log(id, 'planning');
  expect(log).toContain('steered');
  expect(log).toContain('[no exports');
});

test('a secret that is printed encoded or in pieces is hidden', async () => {
  const { api } = scenario;
  const secret = 'h0stile/Secret+of the stack';
  const print = [
    'printf %s "$STOLEN" | base64 -w0; echo',
    'printf "x%s" "$STOLEN" | base64 -w0; echo',
    'for ((i = 0; i < $(printf %s "$STOLEN" | wc -c); i += 1)); do',
    '  printf %s "$STOLEN" | tail -c +$((i + 1)) | head -c 1; [ $((i % 9)) -ne 0 ] || sleep 0.1',
    'done; echo',
    'echo "$STOLEN" >&2; echo printed-all; exit 4',
  ].join('\n');
  const added = await addStack('printer', { hooks: { beforePlan: [print] } });
  await api.setVariable(added.stack, 'STOLEN', { value: secret });
  const { id } = await added.push(simple);
  await api.waitForState(id, 'FAILED');
  await scenario.waitForCheckRun(id, 'failure');
  const log = await api.log(id);
  expect(log).toContain('printed-all');
  const seen = JSON.stringify([
    log,
    scenario.github.requests,
    scenario.receiver.of(id),
    await scenario.server.log(),
  ]);
  expect(formsOf(secret).filter((form) => seen.includes(form))).toEqual([]);
});
