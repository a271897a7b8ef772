import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Vendor } from '../../src/worker/vendor.ts';
import type { VendorFailure } from '../../src/worker/vendor-results.ts';
import { tempDirectory } from '../support/temp-database.ts';
import { openWorkerWorld, shellStack } from './worker-world.ts';

const longMs = 60_000;
const operations = [{ op: 'creating', urn: 'made with top-secret' }];
const halfCreated: VendorFailure = {
  ...{ kind: 'failed', message: 'half created', hint: 'Mend it.' },
  trouble: { kind: 'pending-operations', operations },
};

/** Finds something half done as often as told, then nothing. */
function checkingVendor(times: number): Partial<Vendor> {
  const answers = Array.from({ length: times }, () => halfCreated);
  return {
    stateCheck: {
      command: () => ({
        ...{ label: 'look', argv: ['echo', 'the state'], environment: {}, writesOutput: false },
        capturesStdout: true,
      }),
      read: async ({ captured }, tell) => {
        tell(
          `read: ${Buffer.from(captured ?? [])
            .toString()
            .trim()}`,
        );
        return answers.shift() ?? null;
      },
    },
  };
}

describe('the state of a stack', () => {
  it('is looked at before each plan from an apply that was killed to the first plan that is made', async () => {
    await using world = await openWorkerWorld();
    using directory = tempDirectory();
    const sound = join(directory.path, 'sound');
    const stack = await world.addStack(
      shellStack({ apply: `[ -e ${sound} ] || kill -9 $$` }, {}, { autodeploy: true }),
    );
    await world.database.write((tx) =>
      world.stackStore.putVariable(tx, stack.key, {
        ...{ name: 'TOKEN', value: 'top-secret', secret: true, access: 'all' },
      }),
    );
    const worker = world.startWorker(checkingVendor(1));
    const killed = await world.pushed('a1');
    await world.until(killed, 'FAILED');
    writeFileSync(sound, '');
    const preview = await world.start(stack, 'PROPOSED');
    await world.until(preview, 'FINISHED');

    const stopped = await world.start(stack, 'TRACKED');
    await world.until(stopped, 'FAILED');
    const task = await world.start(stack, 'TASK', 'true');
    await world.until(task, 'FINISHED');
    const again = await world.start(stack, 'TRACKED');
    await world.until(again, 'FINISHED');
    const next = await world.start(stack, 'TRACKED');
    await world.until(next, 'FINISHED');
    await worker.stop(longMs);

    expect(await world.labels(killed)).toEqual(['login', 'plan', 'apply']);
    expect(await world.labels(preview)).toEqual(['login', 'plan']);
    expect(await world.labels(stopped)).toEqual(['login', 'look']);
    expect(await world.labels(task)).toEqual(['login', 'true']);
    expect(await world.labels(again)).toEqual(['login', 'look', 'plan', 'apply']);
    expect(await world.labels(next)).toEqual(['login', 'plan', 'apply']);
    expect(await world.run(stopped)).toMatchObject({
      ...{ state: 'FAILED', outcome: 'pending_operations', note: 'half created\nMend it.' },
      trouble: { kind: 'pending-operations', operations: [{ op: 'creating', urn: 'made with ***' }] },
    });
    const log = await world.log(again);
    expect(log).toContain('[an apply of this stack was cut off: is anything half done in the state?]');
    expect(log).toContain('[read: the state]');
  });

  it('is not looked at where the tool leaves nothing that could be found', async () => {
    await using world = await openWorkerWorld();
    const stack = await world.addStack(shellStack({ apply: 'kill -9 $$' }, {}, { autodeploy: true }));
    const worker = world.startWorker();
    await world.until(await world.pushed('a1'), 'FAILED');
    const next = await world.start(stack, 'TRACKED');
    await world.until(next, 'FAILED');
    await worker.stop(longMs);

    expect(await world.labels(next)).toEqual(['login', 'plan', 'apply']);
  });
});

describe('a task that meets trouble', () => {
  const explain: Vendor['explain'] = ({ stderrTail }) => ({
    ...{ kind: 'failed', message: 'the state is locked' },
    ...(stderrTail.includes('locked')
      ? { trouble: { kind: 'state-locked', lockId: null, holder: null, sinceMs: null } }
      : {}),
  });

  it.each([
    ['echo locked >&2; exit 1', 'state_locked', 'the state is locked'],
    [
      'echo wrong >&2; exit 1',
      'tool_failed',
      'The command "echo wrong >&2; exit 1" failed with exit code 1.',
    ],
  ])('ends as the tool says: %s', async (command, outcome, note) => {
    await using world = await openWorkerWorld();
    const stack = await world.addStack(shellStack({}));
    const worker = world.startWorker({ explain });
    const id = await world.start(stack, 'TASK', command);
    await world.until(id, 'FAILED');
    await worker.stop(longMs);

    expect(await world.run(id)).toMatchObject({ outcome, note: expect.stringContaining(note) });
  });
});
