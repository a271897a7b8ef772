import { compileGlob, type Effort } from '../../stacks/glob.ts';
import { nearestWord } from '../../stacks/nearest-word.ts';
import { type PullRequestSelection, selectForPullRequest } from '../../stacks/pull-request.ts';
import type { Stack } from '../../stacks/stack.ts';
import type { NameList, Refusal } from '../conversation.ts';
import type { CommentedPullRequest } from './comment.ts';

export type ChosenStacks =
  | { readonly kind: 'stacks'; readonly stacks: readonly Stack[] }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

const maxNames = 20;
/** Less than a second, in which the server does nothing else. */
const mostEffort = 20_000_000;

/** The stacks that a command is about: those that its glob names, else those that the pull request concerns. */
export async function chooseStacks(
  all: readonly Stack[],
  glob: string | null,
  pullRequest: CommentedPullRequest,
): Promise<ChosenStacks> {
  if (all.length === 0) return refuse({ code: 'no-stacks' });
  if (glob !== null) return matching(all, glob);
  const selections = await concerns(all, pullRequest);
  const stacks = selections.filter(({ selected }) => selected).map(({ stack }) => stack);
  if (stacks.length > 0) return { kind: 'stacks', stacks };
  return refuse({ code: 'not-concerned', stacks: namesOf(all) });
}

/** Whether the pull request concerns each of the stacks, and why. */
export async function concerns(
  stacks: readonly Stack[],
  { pullRequest, state, read }: CommentedPullRequest,
): Promise<readonly PullRequestSelection[]> {
  // Once merged, its commits are those of the repository, wherever they came from.
  const asIs = state === 'merged' ? { ...pullRequest, isFork: false } : pullRequest;
  return selectForPullRequest(stacks, asIs, await read());
}

export function namesOf(stacks: readonly Stack[]): NameList {
  return { names: stacks.slice(0, maxNames).map(({ id }) => id), total: stacks.length };
}

function matching(all: readonly Stack[], text: string): ChosenStacks {
  const glob = compileGlob(text);
  const effort: Effort = { left: mostEffort };
  const stacks = glob.kind === 'glob' ? all.filter(({ id }) => glob.matches(id, effort)) : [];
  // What was not compared might have matched, too.
  if (effort.left < 0) return refuse({ code: 'glob-too-costly', glob: text });
  if (stacks.length > 0) return { kind: 'stacks', stacks };
  const didYouMean = nearestWord(
    text,
    all.map(({ id }) => id),
  );
  return refuse({ code: 'no-match', glob: text, didYouMean, stacks: namesOf(all) });
}

const refuse = (refusal: Refusal): ChosenStacks => ({ kind: 'refused', refusal });
