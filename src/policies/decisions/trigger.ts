import type { Judgement } from '../judgement.ts';
import type { Policy } from '../policy.ts';
import { stringsOf } from '../rule-values.ts';
import { failedOnes, inOrder } from './judgements.ts';

export type TriggerOutcome = 'triggered' | 'nothing';

/** What one policy wants after a run: the ids of the stacks are its messages. */
export function triggerOf(said: Pick<Judgement, 'values'>): {
  outcome: TriggerOutcome;
  messages: readonly string[];
} {
  const stacks = stringsOf(said, 'trigger');
  return { outcome: stacks.length > 0 ? 'triggered' : 'nothing', messages: stacks };
}

export interface TriggerDecision {
  /** By id of the stack, each once; of several policies the first by name. Whether the stack exists is not known here. */
  readonly triggered: readonly { readonly stackId: string; readonly policy: Policy }[];
  /** They trigger nothing; somebody is to be told. */
  readonly failed: readonly Judgement[];
}

export function combineTrigger(judgements: readonly Judgement[]): TriggerDecision {
  const triggered = new Map<string, Policy>();
  for (const judgement of inOrder(judgements)) {
    for (const stackId of stringsOf(judgement, 'trigger')) {
      if (!triggered.has(stackId)) triggered.set(stackId, judgement.policy);
    }
  }
  return {
    triggered: [...triggered.keys()].toSorted().flatMap((stackId) => {
      const policy = triggered.get(stackId);
      return policy ? [{ stackId, policy }] : [];
    }),
    failed: failedOnes(judgements),
  };
}
