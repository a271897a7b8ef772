import type { LoginJudge } from '../access/login-judge.ts';
import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { Logger } from '../logger.ts';
import type { Guards } from '../runs/approvals/guards.ts';
import type { FlagStore } from '../runs/flags.ts';
import type { PlanJudge } from '../runs/plan-judge.ts';
import type { RunStore } from '../runs/run-store.ts';
import type { PushJudge } from '../stacks/push-judge.ts';
import type { RepositoryStore } from '../stacks/repository-store.ts';
import type { PushJudge } from '../stacks/push-judge.ts';
import type { RepositoryStore } from '../stacks/repository-store.ts';
import type { Transactions } from '../tx.ts';
import type { PolicyEngine } from './engine.ts';
import { createJudging } from './judging.ts';
import { createLoginJudge } from './login-judge.ts';
import type { OverrideStore } from './override-store.ts';
import { createOverrides, type Overrides } from './overrides.ts';
import { createPlanJudge } from './plan-judge.ts';
import { createPolicyLines } from './policy-lines.ts';
import type { DecisionStore, PolicyStore } from './policy-store.ts';
import { createPushJudge } from './push-judge.ts';
import { createRecording } from './recording.ts';

/** Policies, put together: who judges what, and what people may do about it. */
export interface PolicyFeature {
  readonly planJudge: PlanJudge;
  readonly pushJudge: PushJudge;
  readonly guards: Guards;
  readonly loginJudge: LoginJudge;
  readonly pushJudge: PushJudge;
  readonly overrides: Overrides;
  readonly lines: ReturnType<typeof createPolicyLines>;
}

export function createPolicyFeature(parts: {
  readonly engine: PolicyEngine;
  readonly stores: {
    readonly policies: PolicyStore;
    readonly decisions: DecisionStore;
    readonly overrides: OverrideStore;
    readonly flags: FlagStore;
    readonly runs: RunStore;
    readonly repositories: Pick<RepositoryStore, 'listAccounts'>;
  };
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly newId: NewId;
  /** Aborted when the server ends. */
  readonly ending: AbortSignal;
  readonly logger: Logger;
  /** Aborted when the server ends. */
  readonly ending: AbortSignal;
}): PolicyFeature {
  const { stores } = parts;
  const judging = createJudging(parts);
  const recording = createRecording(stores);
  return {
    planJudge: createPlanJudge({ ...parts, ...stores, judging, recording }),
    pushJudge: createPushJudge({ ...parts, ...stores, judging, recording }),
    guards: {
      async guardsOf(tx, stack) {
        const guards = await stores.policies.ofStack(stack.key, 'APPROVAL', tx);
        return guards.map(({ id, version }) => `${id} ${version}`).sort();
      },
    },
    pushJudge: createPushJudge({ ...parts, ...stores, judging }),
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
  };
}
