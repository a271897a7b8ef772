import { describe, expect, it } from 'vitest';
import { aCommit, person } from '../support/builders.ts';
import { openWorkerWorld, shellStack } from './worker-world.ts';

const longMs = 60_000;

/** What becomes of a preview of a stack whose state is kept by Slipway. */
async function preview(isInClear: boolean, isUntrusted: boolean) {
  await using world = await openWorkerWorld();
  const stack = await world.addStack(shellStack({ plan: 'echo "may look"' }));
  const request = { type: 'PROPOSED', branch: 'main', commit: aCommit(), by: person('ada') } as const;
  const made = await world.commands.create({
    ...{ stackKey: stack.key, dedupeKey: null, ...request, isUntrusted },
  });
  if (made === 'duplicate') throw new Error('cannot be');
  await world.scheduler.settled();
  const worker = world.startWorker({ localState: () => ({ name: null, target: '/state', isInClear }) });
  await Promise.race([world.until(made.id, 'FINISHED'), world.until(made.id, 'FAILED')]);
  await worker.stop(longMs);
  return { run: await world.run(made.id), log: await world.log(made.id) };
}

describe('a state that Slipway keeps', () => {
  it('is not given to what gets no secrets, when the tool writes them into it in clear', async () => {
    const { run, log } = await preview(true, true);
    expect(run).toMatchObject({
      state: 'FAILED',
      note: expect.stringContaining('an untrusted preview does not'),
    });
    expect(log).not.toContain('may look');
  });

  it.each([
    ['to others', true, false],
    ['when the tool encrypts them', false, true],
  ])('is given %s', async (_, isInClear, isUntrusted) => {
    const { run, log } = await preview(isInClear, isUntrusted);
    expect(run.state).toBe('FINISHED');
    expect(log).toContain('may look');
  });
});
