import { createHash } from 'node:crypto';
import { takeTurns } from './plan/turns.ts';
import type { Run } from './run.ts';

/**
 * Names what a run would do, as far as the plan shows it: the commit, the type of the run, and every step. Approvals and
 * overrides are given for it, so another run with the same digest has them too. It holds no secrets: two plans that
 * differ in the value of one only have the same.
 *
 * In hex. Unlike the digest of the plan file, which is another for every plan that the tool saves.
 */
export async function changesDigestOf(
  run: Pick<Run, 'type' | 'commit'>,
  steps: readonly unknown[],
): Promise<string> {
  const othersGoOn = takeTurns();
  const digests: string[] = [];
  for (const step of steps) {
    digests.push(sha256(JSON.stringify(inOrder(step))));
    await othersGoOn();
  }
  // What does not depend on each other comes in any order.
  return sha256(JSON.stringify([run.commit.hash, run.type, digests.sort()]));
}

/** With the keys of every object sorted. What is in order stays what it is: tools write most of it so. */
function inOrder(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    const items = value.map(inOrder);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  const entries = Object.entries(value);
  const sorted = entries.map(([key, item]): [string, unknown] => [key, inOrder(item)]);
  const isSorted = entries.every(([key], index) => index === 0 || (entries[index - 1]?.[0] ?? '') < key);
  if (isSorted && sorted.every(([, item], index) => item === entries[index]?.[1])) return value;
  return Object.fromEntries(sorted.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
