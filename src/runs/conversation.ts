import type { Role } from '../access/actor.ts';
import type { Tx } from '../tx.ts';
import type { Verdict } from './approvals/review.ts';
import type { Verb } from './comments/verbs.ts';
import type { Delta, RunState, RunType } from './run.ts';

/**
 * What a command tells back to whoever wrote it. Implemented in github/feedback/, which writes rows only; what is said
 * is data here, and becomes words in github/comments/answer-text.ts.
 */
export interface Conversation {
  /** Safe to repeat. */
  react(tx: Tx, comment: CommentPlace, reaction: Reaction): Promise<void>;
  /** The latest answer of the pull request: it takes the place of the one before. */
  answer(
    tx: Tx,
    pullRequest: { readonly repositoryId: number; readonly number: number },
    answer: CommandAnswer,
  ): Promise<void>;
}

export interface CommentPlace {
  readonly repositoryId: number;
  readonly commentId: number;
}

/** Seen; or refused for want of a permission. */
export type Reaction = 'eyes' | '-1';

/** JSON. Holds nothing that the readers of the pull request may not see. */
export type CommandAnswer = AnswerHead & AnswerBody;

interface AnswerHead {
  readonly commentId: number;
  /** Login of who wrote the comment. */
  readonly by: string;
  /** Null when none was understood. */
  readonly verb: Verb | null;
  /** Which stacks were named, if any. */
  readonly glob: string | null;
}

export type AnswerBody =
  | { readonly kind: 'help' }
  | { readonly kind: 'misunderstood'; readonly reason: string; readonly didYouMean: Verb | null }
  | { readonly kind: 'forbidden'; readonly needs: Role; readonly role: Role | null }
  /** The command as a whole. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'acted'; readonly outcomes: readonly StackOutcome[] }
  | { readonly kind: 'status'; readonly stacks: readonly StackStanding[] }
  | {
      readonly kind: 'explained';
      readonly role: Role;
      readonly stacks: readonly StackConcern[];
      /** The pull request changes the file that settings of stacks come from, which counts from the merge on. */
      readonly changesRepositoryFile: boolean;
    };

/** What came of a command for one stack. */
export type StackOutcome = { readonly stack: string } & Outcome;

export type Outcome =
  | { readonly kind: 'reviewed'; readonly verdict: Verdict; readonly run: RunReference }
  | { readonly kind: 'made'; readonly run: RunReference; readonly isUntrusted: boolean }
  | { readonly kind: 'moved'; readonly run: RunReference }
  | { readonly kind: 'locked' }
  | { readonly kind: 'unlocked' }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

export interface RunReference {
  readonly id: string;
  readonly type: RunType;
  readonly state: RunState;
  /** Of its page. */
  readonly url: string;
}

/** Why a command did nothing. Hashes are whole. */
export type Refusal =
  | { readonly code: 'no-stacks' }
  /** The pull request concerns none of them. */
  | { readonly code: 'not-concerned'; readonly stacks: NameList }
  | {
      readonly code: 'no-match';
      readonly glob: string;
      readonly didYouMean: string | null;
      readonly stacks: NameList;
    }
  | { readonly code: 'glob-too-costly'; readonly glob: string }
  | { readonly code: 'one-stack-only'; readonly stacks: NameList }
  | { readonly code: 'pull-request-closed' }
  | { readonly code: 'pull-request-merged' }
  | { readonly code: 'of-a-fork' }
  | { readonly code: 'forks-not-allowed' }
  | { readonly code: 'other-branch'; readonly base: string; readonly branch: string }
  | { readonly code: 'promotion-off'; readonly branch: string }
  | { readonly code: 'not-previewed' }
  /** The preview was under way when the comment was written, or came to no plan. */
  | { readonly code: 'preview-not-seen'; readonly run: RunReference }
  | {
      readonly code: 'head-moved';
      readonly run: RunReference;
      readonly seen: string;
      readonly head: string;
    }
  /** The stack has got something that the pull request does not have. */
  | { readonly code: 'behind'; readonly run: RunReference; readonly head: string; readonly deployed: string }
  | { readonly code: 'branch-not-found'; readonly branch: string }
  | { readonly code: 'nothing-waits'; readonly run: RunReference | null }
  | { readonly code: 'of-another'; readonly run: RunReference }
  | { readonly code: 'not-seen-yet'; readonly run: RunReference }
  | { readonly code: 'tear-down'; readonly run: RunReference }
  | { readonly code: 'no-approval-policies' }
  | { readonly code: 'approval-required'; readonly reason: string | null }
  | { readonly code: 'no-run' }
  | { readonly code: 'no-run-over' }
  | { readonly code: 'wrong-state'; readonly run: RunReference }
  | ({ readonly code: 'locked' } & ShownLock)
  | ({ readonly code: 'lock-not-yours' } & ShownLock)
  | ({ readonly code: 'locked-since' } & ShownLock)
  | { readonly code: 'not-locked' }
  | { readonly code: 'removed' }
  /** GitHub lets nothing be done in the repository. */
  | { readonly code: 'repository-away'; readonly reason: string }
  | { readonly code: 'done-before' };

/** Of stacks; not all of them when there are many. */
export interface NameList {
  readonly names: readonly string[];
  readonly total: number;
}

/** Null: not for everybody who reads the pull request. */
export interface ShownLock {
  readonly holder: string | null;
  readonly reason: string | null;
}

export interface StackStanding {
  readonly stack: string;
  /** The newest run of the pull request, if there is any. */
  readonly run: (RunReference & { readonly commit: string; readonly isOfHead: boolean }) | null;
  readonly delta: Delta | null;
  readonly waitsFor: WaitsFor | null;
  readonly lock: ShownLock | null;
  /** Why the run is in its state; null, too, when that is not for everybody who reads the pull request. */
  readonly note: string | null;
}

export type WaitsFor =
  | { readonly kind: 'confirmation' }
  | ShownApproval
  | { readonly kind: 'worker' }
  /** Its place among those of the stack that wait, 1 for the next; null for a preview, which waits for none. */
  | { readonly kind: 'turn'; readonly blocker: TurnBlocker | null; readonly queue: Place | null };

export type TurnBlocker =
  | { readonly kind: 'run'; readonly run: RunReference }
  | { readonly kind: 'lock' }
  | ShownApproval
  | { readonly kind: 'repository'; readonly reason: string };

/** `reason`: what is missing; null when that is not for everybody who reads the pull request. */
export interface ShownApproval {
  readonly kind: 'approval';
  readonly reason: string | null;
}

export interface Place {
  readonly place: number;
  readonly of: number;
}

/** Why the pull request concerns a stack, or why not. */
export interface StackConcern {
  readonly stack: string;
  readonly isConcerned: boolean;
  readonly isUntrusted: boolean;
  readonly reason: string;
}
