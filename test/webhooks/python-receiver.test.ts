import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { startOutgoing } from './outgoing.ts';
import { eventually } from './receiver.ts';

interface Line {
  readonly port?: number;
  readonly verified?: boolean;
  readonly verified256?: boolean;
  readonly stateVersion?: number;
  readonly attempt?: number;
  readonly delivery?: string;
}

/** The receiver of the demo: Python's standard library, no code of ours. */
async function startPython(
  secret: string,
): Promise<AsyncDisposable & { readonly lines: Line[]; readonly url: string }> {
  const script = join(import.meta.dirname, '../../demo/witness.py');
  const child: ChildProcessWithoutNullStreams = spawn('python3', [script, '--secret', secret]);
  const lines: Line[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(JSON.parse(line) as Line));
  const [first] = await eventually(
    () => lines,
    (seen) => seen.length > 0,
  );
  return {
    lines,
    url: `http://127.0.0.1:${first?.port}/`,
    async [Symbol.asyncDispose]() {
      const closed = once(child, 'close');
      child.kill('SIGTERM');
      await closed;
    },
  };
}

describe('a receiver in Python', () => {
  it('verifies both signatures of every state, in order', async () => {
    await using receiver = await startPython('schlüssel 🔑');
    await using app = await startOutgoing();
    await app.webhooks.create(app.stackKey, { endpoint: receiver.url, secret: 'schlüssel 🔑' });
    const run = await app.startRun();
    for (const version of [1, 2, 3]) await run.change(version);
    const [, ...received] = await eventually(
      () => receiver.lines,
      (lines) => lines.length === 4,
    );
    const good = { verified: true, verified256: true, attempt: 1 };
    expect(received).toMatchObject([1, 2, 3].map((stateVersion) => ({ stateVersion, ...good })));
  });

  it('gets what it refused with the wrong secret again, signed with the right one', async () => {
    await using receiver = await startPython('right');
    await using app = await startOutgoing();
    const { id } = await app.webhooks.create(app.stackKey, { endpoint: receiver.url, secret: 'wrong' });
    await (await app.startRun()).change(1);
    await eventually(
      () => app.deliveriesOf(id),
      ([one]) => one?.attempts.at(-1)?.statusCode === 401,
    );
    await app.webhooks.regenerateSecret(id, { secret: 'right', overlapHours: 0 });
    app.advance(5000);
    await eventually(
      () => app.deliveriesOf(id),
      ([one]) => one?.status === 'delivered',
    );
    expect(receiver.lines).toMatchObject([
      {},
      { verified: false, attempt: 1 },
      { verified: true, attempt: 2 },
    ]);
  });
});
