import type { Run } from '../runs/run.ts';
import type { RunList } from '../runs/run-list.ts';
import type { Stack } from '../stacks/stack.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import type { SourceCheck } from './check-source.ts';
import type { Judgement } from './judgement.ts';
import type { Judging } from './judging.ts';
import type { PlanInputs } from './plan-inputs.ts';
import type { Policy, PolicySource } from './policy.ts';
import type { DecisionStore, PolicyStore } from './policy-store.ts';

/** Tries policies out: nothing is recorded, kept or flagged. */
export interface Workbench {
  /**
   * What the policy says of an input; with `edit`, what it would say with that source. Throws `policy-invalid` and
   * `policy-engine-unavailable`.
   */
  simulate(policy: Policy, input: unknown, options: SimulationOptions): Promise<Judgement>;
  /**
   * What it would have said of the plans of the newest runs of the stacks that it judges, the newest first; fewer where
   * there are not so many plans.
   */
  simulateRuns(
    policy: Policy,
    options: SimulationOptions & { readonly last: number },
  ): Promise<readonly SimulatedRun[]>;
  /** What PLAN policies see of a run; null without a plan. */
  planInput(run: Run, stack: Stack): Promise<unknown>;
}

interface SimulationOptions {
  readonly edit?: Partial<PolicySource>;
  readonly signal: AbortSignal;
}

export interface SimulatedRun {
  readonly run: Run;
  readonly stack: Stack;
  /** What this policy said of the run when it was judged, in whatever version; null: it was not asked. */
  readonly recorded: string | null;
  readonly judgement: Judgement;
}

/** Somebody waits for it. */
const timeLimitMs = 120_000;
/** Runs without a plan are many where most are discarded early. */
const mostLookedAt = 500;

export function createWorkbench(parts: {
  readonly judging: Judging;
  readonly check: SourceCheck;
  readonly policies: Pick<PolicyStore, 'stacksOf'>;
  readonly decisions: Pick<DecisionStore, 'ofRun'>;
  readonly planInputs: Pick<PlanInputs, 'ofRecorded'>;
  readonly stacks: Pick<StackStore, 'findAll'>;
  readonly runList: RunList;
}): Workbench {
  const { judging, check, policies, decisions, planInputs, stacks, runList } = parts;

  async function edited(policy: Policy, edit: Partial<PolicySource> = {}): Promise<Policy> {
    const next = { ...policy, ...edit };
    if (next.body === policy.body && next.regoVersion === policy.regoVersion) return policy;
    return { ...next, rules: (await check(policy.kind, next)).rules };
  }

  async function judge(policy: Policy, input: unknown, signal: AbortSignal): Promise<Judgement> {
    const [judgement] = await judging.judge(policy.kind, [policy], input, { signal });
    if (!judgement) throw new Error('one policy, no judgement');
    return judgement;
  }

  async function* runsOf(stackKeys: readonly string[]): AsyncGenerator<Run> {
    if (stackKeys.length === 0) return;
    let before: string | null = null;
    for (let seen = 0; seen < mostLookedAt; ) {
      const page = await runList.page({ stackKeys }, { before, limit: 50 });
      yield* page.runs;
      if (page.next === null) return;
      before = page.next;
      seen += 50;
    }
  }

  async function recordedOf(policy: Policy, runId: string): Promise<string | null> {
    const ofPolicy = (await decisions.ofRun(runId)).filter((decision) => decision.policy.id === policy.id);
    return ofPolicy.at(-1)?.outcome ?? null;
  }

  return {
    planInput: (run, stack) => planInputs.ofRecorded(run, stack),

    async simulate(policy, input, { edit, signal }) {
      const within = AbortSignal.any([signal, AbortSignal.timeout(timeLimitMs)]);
      return judge(await edited(policy, edit), input, within);
    },

    async simulateRuns(policy, { last, edit, signal }) {
      const within = AbortSignal.any([signal, AbortSignal.timeout(timeLimitMs)]);
      const tried = await edited(policy, edit);
      const judged = await stacks.findAll(await policies.stacksOf(policy.id));
      const byKey = new Map(judged.map((stack) => [stack.key, stack]));
      const simulated: SimulatedRun[] = [];
      for await (const run of runsOf([...byKey.keys()])) {
        const stack = byKey.get(run.stackKey);
        const input = stack && (await planInputs.ofRecorded(run, stack));
        if (!stack || !input) continue;
        const judgement = await judge(tried, input, within);
        simulated.push({ run, stack, recorded: await recordedOf(policy, run.id), judgement });
        if (simulated.length === last) break;
      }
      return simulated;
    },
  };
}
