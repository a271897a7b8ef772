import type { Judgement } from '../judgement.ts';
import { isTrue, messagesOf, stringOf, stringsOf } from '../rule-values.ts';
import { failedOnes, inOrder, linesOf, united } from './judgements.ts';

/** `undecided`: no rule holds, which is ignored in the end. */
export type PushOutcome = 'tracked' | 'proposed' | 'ignored' | 'undecided';

type Is = (rule: string) => boolean;

function outcomeOf(is: Is): PushOutcome {
  if (is('ignore')) return 'ignored';
  if (is('track') && !is('ignore_track')) return 'tracked';
  return is('propose') ? 'proposed' : 'undecided';
}

/** What one policy says of a push or of a pull request. */
export function pushOf(said: Pick<Judgement, 'values'>): {
  outcome: PushOutcome;
  messages: readonly string[];
} {
  return { outcome: outcomeOf((rule) => isTrue(said, rule)), messages: messagesOf(said, 'message') };
}

/** What comes of a push or of a pull request for one stack. */
export interface PushDecision {
  /** `failed`: a policy could not be evaluated. Nothing happens then, and a failed check says why. */
  readonly outcome: Exclude<PushOutcome, 'undecided'> | 'failed';
  /** Only with `tracked`: the commit counts as tracked, but no run is made. */
  readonly notrigger: boolean;
  /** The run goes first. */
  readonly prioritize: boolean;
  /** A pull request of a fork may be previewed. */
  readonly allowFork: boolean;
  /** Only with `ignored`: a check says so, ... */
  readonly notify: boolean;
  /** ... and it is a failed one. */
  readonly fail: boolean;
  /** Ids of runs of the stack that are not wanted any more. */
  readonly cancel: readonly string[];
  /** Locks of these reasons are to be taken away, ... */
  readonly unlock: readonly string[];
  /** ... then the stack is to be locked for this reason. */
  readonly lock: string | null;
  /** Each with the name of its policy. */
  readonly messages: readonly string[];
}

const nothing = {
  ...{ notrigger: false, prioritize: false, allowFork: false, notify: false, fail: false },
  ...{ cancel: [], unlock: [], lock: null },
} as const;

/** Of at least one policy: a stack without any goes by its settings. */
export function combinePush(judgements: readonly Judgement[]): PushDecision {
  const failures = failedOnes(judgements);
  if (failures.length > 0) return { ...nothing, outcome: 'failed', messages: failures.flatMap(linesOf) };
  const is: Is = (rule) => judgements.some((judgement) => isTrue(judgement, rule));
  const decided = outcomeOf(is);
  const outcome = decided === 'undecided' ? 'ignored' : decided;
  const messages = inOrder(judgements).flatMap(linesOf);
  const [notify, fail] = [outcome === 'ignored' && is('notify'), outcome === 'ignored' && is('fail')];
  // Whoever says `ignore` wants nothing to happen, not even what other policies want besides runs.
  if (decided === 'ignored') return { ...nothing, outcome, notify, fail, messages };
  const texts = (rule: string) => united(judgements.map((judgement) => asList(stringOf(judgement, rule))));
  return {
    ...{ outcome, notify, fail, messages },
    notrigger: outcome === 'tracked' && is('notrigger'),
    prioritize: is('prioritize'),
    allowFork: is('allow_fork'),
    cancel: united(judgements.map((judgement) => stringsOf(judgement, 'cancel'))),
    unlock: texts('unlock'),
    lock: texts('lock')[0] ?? null,
  };
}

/** An empty text is as good as none. */
const asList = (text: string | null): readonly string[] => (text ? [text] : []);
