import { describe, expect, it } from 'vitest';
import { startOutgoing } from '../outgoing.ts';
import { eventually, type Received, startReceiver } from '../receiver.ts';

/** A thousand take their time on a busy machine. */
const patienceMs = 60_000;

/** The same numbers every time, well mixed. */
function mixed(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const runOf = ({ body }: Received) => (JSON.parse(body.toString('utf8')) as { run: { id: string } }).run.id;

describe('the pump with a thousand deliveries', () => {
  it('ends with every receiver knowing the last state of every run, however many attempts fail', async () => {
    const chance = mixed(7);
    const known = new Map<string, number>();
    const firsts = new Map<string, number[]>();
    const misfortunes = [500, 429, 307, 404] as const;
    await using receiver = await startReceiver((received) => {
      const run = runOf(received);
      if (received.attempt === 1) firsts.set(run, [...(firsts.get(run) ?? []), received.stateVersion]);
      const luck = chance();
      if (luck < 0.1) return (_response, socket) => void socket.resetAndDestroy();
      // Some of what fails was understood all the same.
      if (luck > 0.3 || luck < 0.15) known.set(run, Math.max(known.get(run) ?? 0, received.stateVersion));
      return luck < 0.3 ? (misfortunes[Math.floor(luck * 40) % 4] ?? 500) : 204;
    });
    await using app = await startOutgoing({ deadlineMs: 10_000 });
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    const runs = await Promise.all(Array.from({ length: 100 }, () => app.startRun()));
    for (let version = 1; version <= 10; version += 1) {
      for (const run of runs) await run.change(version);
    }
    // Once nothing is due or in flight, only time can help.
    const isStill = (nextAtMs: number | undefined) =>
      nextAtMs === undefined || nextAtMs > app.stores.clock.nowMs();
    const nextAt = async () => (await app.stores.deliveries.queues())[0]?.nextAtMs ?? undefined;
    for (let rounds = 0; rounds < 1000; rounds += 1) {
      const nextAtMs = await eventually(nextAt, isStill, patienceMs);
      if (nextAtMs === undefined) break;
      app.advance(nextAtMs - app.stores.clock.nowMs());
    }
    const all = await app.deliveriesOf(id);
    expect(all).toHaveLength(1000);
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set(['delivered']));
    expect(runs.map((run) => known.get(run.id))).toEqual(runs.map(() => 10));
    // Of one that was reset on a kept connection two come, at once.
    const inOrder = runs.map((run) => [...new Set(firsts.get(run.id))]);
    expect(inOrder).toEqual(runs.map(() => [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]));
  }, 120_000);

  it('stops in the middle without sending anything twice', async () => {
    await using receiver = await startReceiver();
    await using app = await startOutgoing({ starts: false });
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url });
    for (let index = 0; index < 1000; index += 1) await (await app.startRun()).change(1);
    await app.restartPump();
    await eventually(
      () => receiver.received.length,
      (count) => count > 200,
      patienceMs,
    );
    await app.stopPump();
    const sent = receiver.received.length;
    const attempts = (await app.deliveriesOf(id)).flatMap((delivery) => delivery.attempts);
    expect(attempts.map(({ outcome }) => outcome)).toEqual(Array(sent).fill('delivered'));

    await app.restartPump();
    await eventually(
      () => app.stores.deliveries.queues(),
      (queues) => queues.length === 0,
      patienceMs,
    );
    expect(receiver.received).toHaveLength(1000);
    expect(new Set(receiver.received.map(({ delivery }) => delivery)).size).toBe(1000);
    expect(new Set(receiver.received.map(({ attempt }) => attempt))).toEqual(new Set([1]));
  }, 120_000);
});
