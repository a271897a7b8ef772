import { createHash } from 'node:crypto';
import type { Run } from './run.ts';

/**
 * Names what a run would do, as far as the plan shows it: the commit, the type of the run, and every step. Approvals and
 * overrides are given for it, so another run with the same digest has them too. It holds no secrets: two plans that
 * differ in the value of one only have the same.
 *
 * In hex. Unlike the digest of the plan file, which is another for every plan that the tool saves.
 */
export function changesDigestOf(run: Pick<Run, 'type' | 'commit'>, steps: readonly unknown[]): string {
  // What does not depend on each other comes in any order.
  const digests = steps.map((step) => sha256(JSON.stringify(step, inOrder))).sort();
  return sha256(JSON.stringify([run.commit.hash, run.type, digests]));
}

function inOrder(_: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
