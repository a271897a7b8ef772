import type { Clock } from '../../clock.ts';
import type { Transactions, Tx } from '../../tx.ts';
import type { Run } from '../run.ts';
import type { RunStore } from '../run-store.ts';
import {
  comparePlans,
  type PlanComparison,
  type PlanPrint,
  planPrint,
  printDigest,
} from './plan-comparison.ts';
import { createRecent } from './recent.ts';

/** Which plans of a stack a person looked at, so that of a later one can be said what is new about it. */
export interface SeenPlans {
  /** Nothing happens for a run without a plan. */
  see(person: string, run: Run): Promise<void>;
  sinceSeen(person: string, run: Run): Promise<SinceSeen>;
}

export interface SinceSeen {
  /** When the person looked at this very plan last; null: not yet. */
  readonly seenAtMs: number | null;
  /** The plan of an earlier run that the person looked at last, and how this one differs; null without one. */
  readonly since: {
    readonly run: Run;
    readonly seenAtMs: number;
    readonly comparison: PlanComparison;
  } | null;
}

export interface SeenPlan {
  /** `personKey` of access/actor.ts. */
  readonly person: string;
  readonly stackKey: string;
  readonly runId: string;
  /** Of its changes (plan-comparison.ts): a run that was planned again has another plan. */
  readonly digest: string;
  readonly seenAtMs: number;
}

export interface SeenPlanStore {
  /** Replaces what was noted of the run. Keeps the `keep` newest looks of the person at the stack. */
  put(tx: Tx, seen: SeenPlan, keep: number): Promise<void>;
  /** The newest look first. */
  listOf(person: string, stackKey: string): Promise<readonly SeenPlan[]>;
}

/** Of one person and stack. */
const keptLooks = 20;

/** In the prints that are kept, all together: some megabytes. A plan is compared more than once. */
const mostUrns = 50_000;
const printMs = 10 * 60_000;

export function createSeenPlans(parts: {
  store: SeenPlanStore;
  runs: Pick<RunStore, 'find' | 'plan' | 'planVersion'>;
  transactions: Transactions;
  clock: Clock;
}): SeenPlans {
  const { store, runs, transactions, clock } = parts;

  const prints = createRecent<PlanPrint>({ mostSize: mostUrns, sizeOf: ({ size }) => size, forMs: printMs });

  async function printOfRun(runId: string): Promise<PlanPrint | null> {
    const version = await runs.planVersion(runId);
    if (version === null) return null;
    // Should it be replaced between the two reads, the later plan goes by the version of the earlier one, which
    // nobody asks for any more.
    return prints.get(version, async () => planPrint((await runs.plan(runId))?.steps ?? []));
  }

  /** The run of a look at an earlier plan of the same kind: a tear-down has nothing in common with a deployment. */
  async function earlier(looks: readonly SeenPlan[], run: Run) {
    for (const look of looks) {
      if (look.runId >= run.id) continue;
      const seen = await runs.find(look.runId);
      if (seen && (seen.type === 'DESTROY') === (run.type === 'DESTROY')) return { run: seen, look };
    }
    return null;
  }

  return {
    async see(person, { id: runId, stackKey }) {
      const print = await printOfRun(runId);
      if (!print) return;
      const seen = { person, stackKey, runId, digest: printDigest(print), seenAtMs: clock.nowMs() };
      await transactions.write((tx) => store.put(tx, seen, keptLooks));
    },

    async sinceSeen(person, run) {
      const looks = await store.listOf(person, run.stackKey);
      const own = looks.find(({ runId }) => runId === run.id);
      const before = await earlier(looks, run);
      const print = own || before ? await printOfRun(run.id) : null;
      if (!print) return { seenAtMs: null, since: null };
      const seenAtMs = own?.digest === printDigest(print) ? own.seenAtMs : null;
      const beforePrint = before && (await printOfRun(before.run.id));
      if (!beforePrint || printDigest(beforePrint) !== before.look.digest) return { seenAtMs, since: null };
      const comparison = comparePlans(beforePrint, print);
      return { seenAtMs, since: { run: before.run, seenAtMs: before.look.seenAtMs, comparison } };
    },
  };
}
