import type { PolicyLockWish, PushEvent, PushVerdict } from './push-judge.ts';
import type { StackSettings } from './stack.ts';

/** What of an event bears on the rules that no policy can change. */
export interface PushFacts {
  readonly kind: PushEvent['kind'];
  readonly branch: string;
  /** Its commits are in another repository. */
  readonly isFork: boolean;
  /** Of a pull request: it is open no more. */
  readonly isClosed: boolean;
  /** Its run has to do without secrets. */
  readonly isUntrusted: boolean;
}

/** What is done about an event for a stack that push policies judge. */
export interface PushDecision {
  readonly start: 'TRACKED' | 'PROPOSED' | null;
  /** Why, or why not; without a full stop. */
  readonly reason: string;
  /** Once a run is made. */
  readonly prioritize: boolean;
  readonly cancel: readonly string[];
  readonly lock: PolicyLockWish | null;
  readonly unlock: readonly string[];
  /** What the commit shows of it unless a run is made; null: nothing, unless the stack wants to show it always. */
  readonly shows: 'failure' | 'neutral' | null;
  /** For the same place. */
  readonly messages: readonly string[];
}

type Settings = Pick<StackSettings, 'branch' | 'promotion' | 'allowForks'>;

/** What policies want and may not have starts nothing, also nothing less. Pure. */
export function decidePush(said: PushVerdict, facts: PushFacts, settings: Settings): PushDecision {
  const { outcome, notify, fail, messages, prioritize, cancel, lock, unlock } = said;
  const isFailure = fail || outcome === 'failed';
  const shown = { shows: isFailure ? 'failure' : notify ? 'neutral' : null, messages } as const;
  const { start, reason } = starting(said, facts, settings);
  // Who may not start anything may not lock anything either.
  const isOutside = outcome === 'failed' || outcome === 'ignored' || !isAllowed(said, facts, settings);
  if (isOutside) return { start, reason, ...nothingElse, ...shown };
  return { start, reason, prioritize, cancel, lock, unlock, ...shown };
}

const nothingElse = { prioritize: false, cancel: [], lock: null, unlock: [] };

const isAllowed = ({ allowFork }: PushVerdict, { isFork }: PushFacts, { allowForks }: Settings): boolean =>
  !isFork || allowForks || allowFork;

function starting(
  said: PushVerdict,
  facts: PushFacts,
  settings: Settings,
): Pick<PushDecision, 'start' | 'reason'> {
  const not = (reason: string) => ({ start: null, reason });
  switch (said.outcome) {
    case 'failed':
      return not('it cannot be judged by its push policies');
    case 'ignored':
      return not('push policies ignore it');
    case 'unmatched':
      return not('no rule of the push policies wants a run');
    case 'tracked': {
      const against = reasonAgainstTrack(facts, settings);
      if (against !== null) return not(`push policies want a TRACKED run, but ${against}`);
      if (said.notrigger) return not('push policies track it without a run');
      return { start: 'TRACKED', reason: 'push policies track it' };
    }
    case 'proposed':
      if (!isAllowed(said, facts, settings)) return not('pull requests of forks start nothing');
      if (facts.isClosed) return not('push policies want a PROPOSED run, but the pull request is not open');
      return { start: 'PROPOSED', reason: 'push policies propose it' };
  }
}

function reasonAgainstTrack(facts: PushFacts, settings: Settings): string | null {
  const { kind, branch, isFork, isClosed, isUntrusted } = facts;
  if (isFork) return 'it is of a fork';
  if (isClosed) return 'the pull request is not open: what it was merged as is told by its push';
  if (kind === 'merge_group') return 'a merge group is not merged yet';
  if (branch === settings.branch) return null;
  if (!settings.promotion) return `it is not of ${settings.branch}, and promotion is off`;
  return isUntrusted ? 'it comes from a bot that is not trusted' : null;
}
