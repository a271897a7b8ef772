/** A data directory on a file system that is small and really full. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { patience, program, type Scenario, startScenario, stash } from '../support/scenario.ts';

const mebibyte = 1024 * 1024;
const simple = program(stash('one', 'first'));

/** Null where this user may not mount. */
const disk = mountDisk();
let scenario: Scenario;
beforeAll(async () => {
  // One worker: once it says that it begins nothing, no other is about to.
  const settings = { DATA_DIR: disk ?? '', MIN_FREE_DISK_MB: '24', WORKERS: '1' };
  if (disk !== null) scenario = await startScenario({ settings });
});
afterAll(async () => {
  await scenario?.[Symbol.asyncDispose]();
  if (disk === null) return;
  execFileSync('umount', [disk]);
  rmdirSync(disk);
});

function mountDisk(): string | null {
  const path = mkdtempSync(join(tmpdir(), 'slipway-small-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=320m', 'tmpfs', path], { stdio: 'ignore' });
    return path;
  } catch {
    rmdirSync(path);
    return null;
  }
}

/** A file that leaves so much. Node may leave a part of a page more. */
function fill(name: string, leaving: number): void {
  const { bavail, bsize } = statfsSync(disk ?? '');
  const file = join(disk ?? '', name);
  try {
    writeFileSync(file, Buffer.alloc(Math.max(0, bavail * bsize - leaving)));
  } catch (error) {
    if (leaving > 0) throw error;
  }
}
const free = (name: string) => rmSync(join(disk ?? '', name), { force: true });
afterEach(() => ['filler', 'rest'].forEach(free));

const push = (to: Awaited<ReturnType<Scenario['addStack']>>, message: string) =>
  scenario.github.commitAndPush(to.repository, {
    ...{ branch: 'main', message, pusher: 'ada' },
    files: { 'Pulumi.yaml': program(stash('one', message)) },
  });

test.skipIf(disk === null)('nothing is begun, acknowledged or lost while the disk is full', async () => {
  const { api, server, github } = scenario;
  const stack = await scenario.addStack('small');
  const ready = async () => (await fetch(`${server.url}/readyz`)).status;
  const done = await stack.push(simple);
  await api.waitForState(done.id, 'UNCONFIRMED');
  await api.act(done.id, 'discard');

  // Below the floor: deliveries are taken, runs wait.
  fill('filler', 16 * mebibyte);
  await expect.poll(ready, patience).toBe(503);
  await expect.poll(() => server.log(), patience).toContain('the disk is too full to begin runs');
  const waiting = await stack.push(program(stash('one', 'second')));
  await api.waitForState(waiting.id, 'READY');

  // Not a byte left: nothing is acknowledged.
  fill('rest', 0);
  const refused = await push(stack, 'third');
  expect(refused.status).toBe(503);
  for (let n = 0; n < 3; n += 1) expect((await github.redeliver(refused.deliveryId)).status).toBe(503);
  const answer = await api.request('POST', `/api/v1/runs/${waiting.id}/cancel`, {});
  expect(answer).toMatchObject({ status: 503, json: { code: 'storage-full' } });
  expect((await api.run(waiting.id)).state).toBe('READY');
  const told = (await server.log()).split('\n').filter((line) => line.includes('requests that would store'));
  expect(told).toHaveLength(1);

  // Room again: the same delivery is taken, what waited goes on.
  free('rest');
  free('filler');
  await expect.poll(ready, patience).toBe(200);
  expect((await github.redeliver(refused.deliveryId)).status).toBe(202);
  await api.waitForState(waiting.id, 'UNCONFIRMED');
  const third = await api.waitForRun(stack.stack, refused.sha);
  await api.act(waiting.id, 'discard');
  await api.waitForState(third.id, 'UNCONFIRMED');
  await scenario.expectWebhooksToTell(waiting.id);
});

test.skipIf(disk === null)(
  'a plan that meets a full disk ends, with the reason on run and check',
  async () => {
    const { api } = scenario;
    const stack = await scenario.addStack('greedy', {
      hooks: { beforePlan: ['head -c 310000000 /dev/zero > "$HOME/filling"; sleep 60'] },
    });
    const { id } = await stack.push(simple);
    const run = await api.waitForState(id, 'FAILED');

    expect(run).toMatchObject({ outcome: 'disk_limit', note: expect.stringContaining('less than 24 MiB') });
    const check = await scenario.waitForCheckRun(id, 'failure');
    expect(check.output?.summary).toContain('disk');
    expect(await api.log(id, 'planning')).toContain('[disk_limit: less than 24 MiB was left');
  },
);
