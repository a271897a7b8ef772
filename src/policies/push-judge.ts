import type { Clock } from '../clock.ts';
import type { RunStore } from '../runs/run-store.ts';
import type {
  PolicyLockWish,
  PushEvent,
  PushJudge,
  PushJudgement,
  PushVerdict,
} from '../stacks/push-judge.ts';
import type { Stack } from '../stacks/stack.ts';
import { combinePush } from './decisions/push.ts';
import { pullRequestInput, pushInput } from './input/push.ts';
import type { Judgement } from './judgement.ts';
import type { Judging } from './judging.ts';
import { combinedTimeLimitMs } from './kinds.ts';
import type { Policy } from './policy.ts';
import type { PolicyStore } from './policy-store.ts';
import type { Recording } from './recording.ts';
import { isTrue, stringOf } from './rule-values.ts';

/** Push policies decide what an event starts. */
export function createPushJudge(parts: {
  readonly policies: Pick<PolicyStore, 'ofStack'>;
  readonly runs: Pick<RunStore, 'unfinished'>;
  readonly judging: Judging;
  readonly recording: Recording;
  readonly clock: Clock;
  /** Aborted when the server ends. */
  readonly ending: AbortSignal;
}): PushJudge {
  const { runs, judging, recording, clock, ending } = parts;

  const policiesOf = ({ key }: Stack) => parts.policies.ofStack(key, 'PUSH');

  async function judgeOne(
    stack: Stack,
    policies: readonly Policy[],
    event: PushEvent,
    signal: AbortSignal,
  ): Promise<PushJudgement> {
    const around = { stack, inProgress: await runs.unfinished(stack.key), nowMs: clock.nowMs() };
    const input =
      event.kind === 'pull_request'
        ? pullRequestInput({ ...event, ...around })
        : pushInput({ ...event, ...around });
    const judgements = await judging.judge('PUSH', policies, input, { signal });
    // Who judged nothing must not say that it failed: the event is handled anew by the next life.
    ending.throwIfAborted();
    return {
      said: verdictOf(judgements),
      record: await recording.prepare(judgements, input, { run: null, stack, subject: subjectOf(event) }),
    };
  }

  return {
    async judged(stacks) {
      const keys = new Set<string>();
      for (const stack of stacks) if ((await policiesOf(stack)).length > 0) keys.add(stack.key);
      return keys;
    },

    async judge(stacks, event) {
      const signal = AbortSignal.any([ending, AbortSignal.timeout(combinedTimeLimitMs)]);
      const judgements = new Map<string, PushJudgement>();
      // One after the other: for each, as many policies at once as may be.
      for (const stack of stacks) {
        const policies = await policiesOf(stack);
        if (policies.length > 0) judgements.set(stack.key, await judgeOne(stack, policies, event, signal));
      }
      return judgements;
    },
  };
}

/** For the record: "the push of 1a2b3c4 to main". */
export function subjectOf(event: PushEvent): string {
  if (event.kind === 'pull_request') {
    const { pullRequest, details } = event.change;
    return `pull request #${pullRequest.number} (${details.action})`;
  }
  const { head, branch } = event.push;
  const what = event.kind === 'merge_group' ? 'merge group' : 'push';
  return `the ${what} of ${head.hash.slice(0, 7)} to ${branch}`;
}

export function verdictOf(judgements: readonly Judgement[]): PushVerdict {
  const { outcome, messages, lock, ...wishes } = combinePush(judgements);
  const isIgnored = judgements.some((judgement) => isTrue(judgement, 'ignore'));
  const isUnmatched = outcome === 'ignored' && !isIgnored;
  return {
    ...wishes,
    outcome: isUnmatched ? 'unmatched' : outcome,
    messages: outcome === 'failed' ? messages.map((message) => `push policy ${message}`) : messages,
    lock: lock === null ? null : wishOf(lock, judgements),
  };
}

function wishOf(key: string, judgements: readonly Judgement[]): PolicyLockWish {
  const from = judgements.filter((judgement) => stringOf(judgement, 'lock') === key);
  return {
    key,
    policy: from
      .map(({ policy }) => policy.name)
      .toSorted()
      .join(', '),
  };
}
