import type { PolicyLockWish, PushEvent, PushSaid, PushWishes } from './push-judge.ts';
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

const nothingElse = { prioritize: false, cancel: [], lock: null, unlock: [] };

/**
 * `ignore` beats all, then comes `track`, then `propose`. What policies want and may not have starts nothing, also
 * nothing less. Pure.
 */
export function decidePush(
  said: PushSaid,
  facts: PushFacts,
  settings: Pick<StackSettings, 'branch' | 'promotion' | 'allowForks'>,
): PushDecision {
  if (said.kind === 'failed') {
    return { start: null, reason: said.reason, ...nothingElse, shows: 'failure', messages: [] };
  }
  const { messages } = said;
  const shows = said.fail ? 'failure' : said.notify ? 'neutral' : null;
  const without = (reason: string) => ({ start: null, reason, ...nothingElse, shows, messages }) as const;
  if (said.ignore) return without('push policies ignore it');
  // Who may not start anything may not lock anything either.
  if (facts.isFork && !settings.allowForks && !said.allowFork) {
    return without('pull requests of forks start nothing');
  }
  const { prioritize, cancel, lock, unlock } = said;
  return { ...starting(said, facts, settings), prioritize, cancel, lock, unlock, shows, messages };
}

type Starting = Pick<PushDecision, 'start' | 'reason'>;

function starting(
  said: PushWishes,
  facts: PushFacts,
  settings: Pick<StackSettings, 'branch' | 'promotion'>,
): Starting {
  const not = (reason: string): Starting => ({ start: null, reason });
  if (said.track && !said.ignoreTrack) {
    const against = reasonAgainstTrack(facts, settings);
    if (against !== null) return not(`push policies want a TRACKED run, but ${against}`);
    if (said.notrigger) return not('push policies track it without a run');
    return { start: 'TRACKED', reason: 'push policies track it' };
  }
  if (said.propose) {
    if (facts.isClosed) return not('push policies want a PROPOSED run, but the pull request is not open');
    return { start: 'PROPOSED', reason: 'push policies propose it' };
  }
  return not(
    said.track ? 'push policies track it and ignore that' : 'no rule of the push policies wants a run',
  );
}

function reasonAgainstTrack(
  { kind, branch, isFork, isClosed, isUntrusted }: PushFacts,
  settings: Pick<StackSettings, 'branch' | 'promotion'>,
): string | null {
  if (isFork) return 'it is of a fork';
  if (isClosed) return 'the pull request is not open: what it was merged as is told by its push';
  if (kind === 'merge_group') return 'a merge group is not merged yet';
  if (branch === settings.branch) return null;
  if (!settings.promotion) return `it is not of ${settings.branch}, and promotion is off`;
  return isUntrusted ? 'it comes from a bot that is not trusted' : null;
}
