import { failureText, type RecordedDecision } from './judgement.ts';
import type { PolicyKind } from './policy.ts';
import type { DecisionStore } from './policy-store.ts';

/** Those that decide what becomes of a run. */
const deciding: ReadonlySet<PolicyKind> = new Set(['PUSH', 'PLAN', 'APPROVAL']);
const objecting: ReadonlySet<string> = new Set(['denied', 'warned', 'rejected', 'failed']);

/** What policies said of a run, for people who look at its check or its pull request: the newest of each policy. */
export function createPolicyLines(decisions: Pick<DecisionStore, 'ofRun'>) {
  return async (runId: string) => {
    const newest = new Map<string, RecordedDecision>();
    for (const decision of await decisions.ofRun(runId)) {
      if (deciding.has(decision.kind)) newest.set(decision.policy.id, decision);
    }
    return [...newest.values()].map(({ policy, outcome, messages, failure }) => ({
      policy: policy.name,
      version: policy.version,
      outcome: failure === null ? outcome : 'could not be evaluated',
      messages: failure === null ? messages : [failureText(failure)],
      isObjection: objecting.has(outcome),
    }));
  };
}
