import { describe, expect, it } from 'vitest';
import type { ProcessUse } from '../../../src/sandbox/watching/process-use.ts';
import { watchProcesses } from '../../../src/sandbox/watching/process-watch.ts';
import { until } from '../harness.ts';

const limits = { memoryBytes: 100, processes: 10, temporaryEntries: 1000 };
const little: ProcessUse = { memoryBytes: 1, processes: 1, cpuMs: 1, temporaryEntries: 1 };

/** A watch whose looks see these one after the other, then the last for ever. */
function watched(...seen: readonly (Partial<ProcessUse> | null)[]) {
  const over: string[] = [];
  let looks = 0;
  const watch = watchProcesses({
    limits,
    look: async () => {
      looks += 1;
      const now = seen[Math.min(looks, seen.length) - 1] ?? null;
      return now && { ...little, ...now };
    },
    onOver: (reason) => over.push(reason),
  });
  return { watch, over, looks: () => looks };
}

describe('a watch of processes', () => {
  it('keeps the most of each figure', async () => {
    const { watch, over, looks } = watched(
      { memoryBytes: 90, cpuMs: 500 },
      { processes: 10, cpuMs: 400 },
      { temporaryEntries: 1000 },
    );
    await using _ = watch;
    expect(watch.usage()).toBe(null);
    await until('the third look', () => looks() >= 4);

    expect(watch.usage()).toEqual({ peakMemoryBytes: 90, peakProcesses: 10, cpuMs: 500 });
    expect(over).toEqual([]);
    expect(watch.wasOutOfMemory()).toBe(false);
  });

  it.for([
    [{ memoryBytes: 101 }, 'memory'],
    [{ processes: 11 }, 'processes'],
    [{ temporaryEntries: 1001 }, 'temporary'],
    [{ memoryBytes: 101, processes: 11 }, 'memory'],
  ] as const)('tells once of %j', async ([use, reason]) => {
    const { watch, over, looks } = watched(null, {}, use);
    await using _ = watch;
    await until('the third look', () => over.length > 0);

    expect(looks()).toBe(3);
    expect(over).toEqual([reason]);
    expect(watch.wasOutOfMemory()).toBe(reason === 'memory');
  });

  it('says nothing of processes that it could not see', async () => {
    const { watch, over, looks } = watched(null);
    await using _ = watch;
    await until('two looks', () => looks() >= 2);

    expect(watch.usage()).toBe(null);
    expect(over).toEqual([]);
  });

  it('looks again when a look failed', async () => {
    let looks = 0;
    await using watch = watchProcesses({
      limits,
      look: async () => {
        looks += 1;
        if (looks === 1) throw new Error('EMFILE');
        return little;
      },
      onOver: () => undefined,
    });
    await until('a look that is none', () => watch.usage() !== null);

    expect(looks).toBeGreaterThanOrEqual(2);
  });

  it('believes no look that ends after the command', async () => {
    const over: string[] = [];
    const looking = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<ProcessUse>();
    const watch = watchProcesses({
      limits,
      look: () => {
        looking.resolve();
        return answer.promise;
      },
      onOver: (reason) => over.push(reason),
    });
    await looking.promise;
    await watch[Symbol.asyncDispose]();
    answer.resolve({ ...little, memoryBytes: 1000 });
    await answer.promise;
    await new Promise((resolve) => setImmediate(resolve));

    expect(watch.usage()).toBe(null);
    expect(over).toEqual([]);
  });
});
