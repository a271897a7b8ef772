/** `kill -9` of a process that sends webhooks under load, again and again, at moments that nobody chose. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import BetterSqlite3 from 'better-sqlite3';
import { expect, test } from 'vitest';
import { type Received, startReceiver } from '../webhooks/receiver.ts';

const rounds = 3;
const killsInRound = 20;
const webhooks = 3;

interface Life {
  readonly child: ChildProcess;
  /** "run state" of what it said to be committed. */
  readonly accepted: readonly string[];
}

async function live(dataDir: string, origin: string): Promise<Life> {
  const sender = fileURLToPath(new URL('./webhook-sender.ts', import.meta.url));
  const child = spawn(process.execPath, [sender, dataDir, origin], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const accepted: string[] = [];
  const ready = Promise.withResolvers<void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line === 'ready') ready.resolve();
    else accepted.push(line);
  });
  child.on('exit', (code) => ready.reject(new Error(`the sender ended with ${code}`)));
  await ready.promise;
  return { child, accepted };
}

async function killGroup(child: ChildProcess): Promise<void> {
  const gone = once(child, 'close');
  process.kill(-(child.pid ?? Number.NaN), 'SIGKILL');
  await gone;
}

const stateOf = ({ body }: Received): string => {
  const { run, stateVersion } = JSON.parse(body.toString('utf8')) as {
    run: { id: string };
    stateVersion: number;
  };
  return `${run.id} ${stateVersion}`;
};

test.each(Array.from({ length: rounds }, (_, round) => round))(
  'nothing that was committed is lost, nothing else is sent, and what comes twice was in flight (round %i)',
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'slipway-kill-'));
    await using receiver = await startReceiver();
    const origin = `http://127.0.0.1:${receiver.port}`;
    const accepted: string[] = [];
    for (let kills = 0; kills < killsInRound; kills += 1) {
      const life = await live(dataDir, origin);
      await delay(20 + Math.random() * 400);
      await killGroup(life.child);
      accepted.push(...life.accepted);
    }
    const last = await live(dataDir, origin);
    const end = once(last.child, 'close');
    last.child.stdin?.end('drain\n');
    expect(await end).toEqual([0, null]);
    accepted.push(...last.accepted);

    const database = new BetterSqlite3(join(dataDir, 'slipway.db'), { readonly: true });
    const committed = database
      .prepare<[], { id: string; state: string; status: string }>(
        "select id, run_id || ' ' || state_version as state, status from delivery",
      )
      .all();
    const lost = database
      .prepare<[], number>("select count(*) from attempt where outcome = 'unknown'")
      .pluck()
      .get();
    database.close();
    rmSync(dataDir, { recursive: true });

    expect(new Set(committed.map(({ status }) => status))).toEqual(new Set(['delivered']));
    const states = new Set(committed.map(({ state }) => state));
    expect(accepted.filter((state) => !states.has(state))).toEqual([]);
    expect(committed).toHaveLength(states.size * webhooks);
    const arrived = Map.groupBy(receiver.received, ({ delivery }) => delivery);
    expect(new Set(arrived.keys())).toEqual(new Set(committed.map(({ id }) => id)));
    expect(receiver.received.every((one) => states.has(stateOf(one)))).toBe(true);
    for (const times of arrived.values()) {
      expect(new Set(times.map(({ body }) => body.toString('hex'))).size).toBe(1);
      expect(new Set(times.map(({ attempt }) => attempt)).size).toBe(times.length);
    }
    // Each that came twice is one whose sender died with it, and shows it.
    expect(receiver.received.length - committed.length).toBeLessThanOrEqual(lost ?? 0);
    expect(accepted.length).toBeGreaterThan(killsInRound);
  },
);
