import type { LoginJudge } from '../access/login-judge.ts';
import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { Logger } from '../logger.ts';
import type { Guards } from '../runs/approvals/guards.ts';
import type { ReviewStore } from '../runs/approvals/review-store.ts';
import type { SettleApproval } from '../runs/approvals/settle.ts';
import type { FlagStore } from '../runs/flags.ts';
import type { JobQueue } from '../runs/job-queue.ts';
import type { PlanJudge } from '../runs/plan-judge.ts';
import type { RunCauseStore } from '../runs/run-causes.ts';
import type { RunList } from '../runs/run-list.ts';
import type { RunStore } from '../runs/run-store.ts';
import type { PushJudge } from '../stacks/push-judge.ts';
import type { RepositoryStore } from '../stacks/repository-store.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import type { Transactions } from '../tx.ts';
import { createApprovalJudge } from './approval-judge.ts';
import { createSourceCheck, type SourceCheck } from './check-source.ts';
import type { PolicyEngine } from './engine.ts';
import { createFollowUpHandlers, type FollowUpWays } from './follow-up-handlers.ts';
import { createGuards } from './guards.ts';
import { createJudgeLoop, type JudgeLoop } from './judge-loop.ts';
import { createJudging } from './judging.ts';
import { type JudgingObserver, observed } from './judging-observer.ts';
import { createLoginJudge } from './login-judge.ts';
import type { NoticeStore } from './notice-store.ts';
import type { OverrideStore } from './override-store.ts';
import { createOverrides, type Overrides } from './overrides.ts';
import { createPlanInputs } from './plan-inputs.ts';
import { createPlanJudge } from './plan-judge.ts';
import {
  createPolicies,
  type OnLoginPolicyChanged,
  type OnPolicyChanged,
  type Policies,
} from './policies.ts';
import { createPolicyLines } from './policy-lines.ts';
import type { DecisionStore, PolicyStore } from './policy-store.ts';
import { createPushJudge } from './push-judge.ts';
import { createRecording } from './recording.ts';
import { createWorkbench, type Workbench } from './workbench.ts';

/** Policies, put together: who judges what, and what people may do about it. */
export interface PolicyFeature {
  readonly policies: Policies;
  readonly sourceCheck: SourceCheck;
  readonly workbench: Workbench;
  readonly planJudge: PlanJudge;
  readonly pushJudge: PushJudge;
  readonly guards: Guards;
  readonly loginJudge: LoginJudge;
  readonly overrides: Overrides;
  readonly lines: ReturnType<typeof createPolicyLines>;
  /** Made last: it acts on runs, which ask policies. */
  judgeLoop(
    of: FollowUpWays & { readonly queue: JobQueue; readonly settleApproval: SettleApproval },
  ): JudgeLoop;
}

export function createPolicyFeature(parts: {
  readonly engine: PolicyEngine;
  readonly observer: JudgingObserver;
  readonly stores: {
    readonly policies: PolicyStore;
    readonly decisions: DecisionStore;
    readonly overrides: OverrideStore;
    readonly flags: FlagStore;
    readonly reviews: ReviewStore;
    readonly runs: RunStore;
    readonly repositories: Pick<RepositoryStore, 'listAccounts'>;
    readonly stacks: StackStore;
    readonly runList: RunList;
    readonly causes: RunCauseStore;
    readonly notices: NoticeStore;
  };
  /** Others go by what policies say: they are told in the transaction. */
  readonly onChanged: OnPolicyChanged;
  readonly onLoginPolicyChanged: OnLoginPolicyChanged;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly newId: NewId;
  /** Aborted when the server ends. */
  readonly ending: AbortSignal;
  readonly logger: Logger;
}): PolicyFeature {
  const { stores, engine } = parts;
  const unobserved = createJudging(parts);
  const judging = observed(unobserved, parts.observer);
  const recording = createRecording(stores);
  const planInputs = createPlanInputs({ ...parts, ...stores });
  const check = createSourceCheck(engine);
  return {
    policies: createPolicies({ ...parts, ...stores, store: stores.policies, check }),
    sourceCheck: check,
    workbench: createWorkbench({ ...stores, judging: unobserved, check, planInputs }),
    planJudge: createPlanJudge({ ...stores, judging, recording, planInputs }),
    pushJudge: createPushJudge({ ...parts, ...stores, judging, recording }),
    guards: createGuards(stores.policies),
    loginJudge: createLoginJudge({
      ...stores,
      judging,
      async isKnownAccount(login) {
        const found = await stores.repositories.listAccounts({ login, after: 0, limit: 1 });
        return found.length > 0;
      },
    }),
    overrides: createOverrides({ ...parts, ...stores, store: stores.overrides }),
    lines: createPolicyLines(stores.decisions),
    judgeLoop({ queue, settleApproval: settle, ...ways }) {
      const judged = { ...parts, ...stores, judging, recording };
      const approval = createApprovalJudge({ ...judged, settle });
      return createJudgeLoop({
        ...{ ...parts, queue },
        handlers: { approval, ...createFollowUpHandlers(judged, ways) },
      });
    },
  };
}
