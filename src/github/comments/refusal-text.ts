import type { NameList, Refusal, RunReference, ShownLock } from '../../runs/conversation.ts';
import { codeSpan } from '../feedback/shown-text.ts';

const longestName = 100;
const longestReason = 300;

/** What people named: logins, stacks, branches, globs. */
export const named = (text: string): string => codeSpan(text, longestName);
const hash = (text: string): string => codeSpan(text.slice(0, 7), longestName);

export const runLink = ({ type, state, url }: RunReference): string => `${type} run [${state}](${url})`;

/** Why nothing was done and what to do about it: markdown, whole sentences. */
export function refusalText(refusal: Refusal): string {
  switch (refusal.code) {
    case 'no-stacks':
      return 'There is no stack of this repository.';
    case 'not-concerned':
      return `The pull request concerns none of the stacks (\`/slipway explain\` says why). Name one: ${names(refusal.stacks)}.`;
    case 'no-match':
      return `No stack is called ${named(refusal.glob)}. ${didYouMean(refusal.didYouMean)}There are: ${names(refusal.stacks)}.`;
    case 'glob-too-costly':
      return `${named(refusal.glob)} is too complex for that many stacks. Write a simpler one.`;
    case 'one-stack-only':
      return `The pull request concerns several stacks: ${names(refusal.stacks)}. Name the ones that the task is for: \`/slipway task STACK -- COMMAND\`.`;
    case 'pull-request-closed':
      return 'The pull request is closed. Reopen it first.';
    case 'pull-request-merged':
      return 'The pull request is merged. `/slipway deploy` starts a run of the branch that the stack follows.';
    case 'of-a-fork':
      return 'The commits are in a fork. What a fork brings runs once it is merged.';
    case 'forks-not-allowed':
      return 'The stack does not preview pull requests of forks (setting `allowForks`).';
    case 'other-branch':
      return `The pull request is for ${named(refusal.base)}, the stack follows ${named(refusal.branch)}.`;
    case 'promotion-off':
      return `Until it is merged, only a stack with promotion takes the commit: this one takes commits of ${named(refusal.branch)}. Merge it, or turn \`promotion\` on.`;
    case 'not-previewed':
      return 'There was no preview before the comment. Write `/slipway preview`, look at it, then write this again.';
    case 'preview-not-seen':
      return `The ${runLink(refusal.run)} had no plan to look at when the comment was written. Look at a preview that is done, then write this again.`;
    case 'head-moved':
      return `The head is ${hash(refusal.head)} now; what you can have looked at is ${hash(refusal.seen)} (${runLink(refusal.run)}). Look at a preview of the head, then write this again.`;
    case 'behind':
      return `${hash(refusal.head)} does not contain ${hash(refusal.deployed)}, which the stack has got or is to get (${runLink(refusal.run)}). Merge or rebase, so that nothing is undone.`;
    case 'branch-not-found':
      return `The branch ${named(refusal.branch)} that the stack follows was not found.`;
    case 'nothing-waits':
      return refusal.run
        ? `No run waits for people; the stack is at its ${runLink(refusal.run)}.`
        : 'No run waits for people.';
    case 'of-another':
      return `The ${runLink(refusal.run)} that waits is not of this pull request. Its page has the buttons.`;
    case 'not-seen-yet':
      return `The ${runLink(refusal.run)} began to wait after the comment was written. Look at its plan, then write this again.`;
    case 'tear-down':
      return `A tear-down is not confirmed by a comment. Confirm it where the ${runLink(refusal.run)} is shown, with the name of the stack.`;
    case 'no-approval-policies':
      return 'The stack has no approval policies, so nothing comes of a review. `/slipway confirm` and `/slipway discard` answer a run that waits.';
    case 'approval-required':
      return refusal.reason === null
        ? 'The run waits for approval.'
        : codeSpan(refusal.reason, longestReason);
    case 'no-run':
      return 'The stack had no run of this pull request when the comment was written.';
    case 'no-run-over':
      return 'The stack has no run of this pull request that was over when the comment was written.';
    case 'wrong-state':
      return `That is not possible for the ${runLink(refusal.run)}.`;
    case 'locked':
      return `The stack is locked${byHolder(refusal)}.`;
    case 'lock-not-yours':
      return `The stack is locked${byHolder(refusal)}. Only the holder and people with admin access to the repository can unlock it.`;
    case 'locked-since':
      return `The stack was locked${byHolder(refusal)} after the comment was written. Write it again if you mean this lock.`;
    case 'not-locked':
      return 'The stack is not locked.';
    case 'removed':
      return 'It was removed meanwhile.';
    case 'repository-away':
      return codeSpan(refusal.reason, longestReason);
    case 'done-before':
      return 'The comment had its run already.';
  }
}

/** For "is locked" and the like: by whom and why, as far as that is for everybody. */
export function byHolder({ holder, reason }: ShownLock): string {
  if (holder === null) return '';
  return ` by ${named(holder)}${reason === null ? '' : `: ${codeSpan(reason, longestReason)}`}`;
}

function names({ names: some, total }: NameList): string {
  const rest = total - some.length;
  return `${some.map(named).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

const didYouMean = (name: string | null): string => (name === null ? '' : `Did you mean ${named(name)}? `);
