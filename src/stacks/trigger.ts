import { compileGlob, type Effort } from './glob.ts';
import type { Commit } from './repository.ts';
import type { Stack } from './stack.ts';

/** A push as the product needs it; github/events/push.ts translates GitHub's. */
export interface Push {
  readonly repositoryId: number;
  readonly branch: string;
  readonly head: Commit;
  /** Where the branch was before; null when there was none. */
  readonly before: string | null;
  /** The branch was moved, not continued. */
  readonly isForced: boolean;
  /** E-mail address of the pusher; the noreply address when it is private. */
  readonly pusher: string;
  readonly pusherLogin: string;
  /**
   * Paths that changed, from the repository's root. Null when GitHub's list cannot be trusted (forced, new
   * branch, at the limits of the payload): then every stack counts as affected.
   */
  readonly changedPaths: readonly string[] | null;
  /** Ids of stacks that the repository file wants since this push, and that never ran. */
  readonly newStacks?: readonly string[];
  /** Where the branch is now, if that was asked: a push may come late, and those stacks are to start with the newest. */
  readonly headNow?: Commit;
}

export type Selection =
  | {
      readonly stack: Stack;
      readonly selected: true;
      readonly type: 'TRACKED' | 'PROPOSED';
      readonly reason: string;
    }
  | { readonly stack: Stack; readonly selected: false; readonly reason: string };

/** For all globs and paths of a push together: less than a second, in which the server does nothing else. */
const maxSteps = 20_000_000;

/** Which stacks of the repository a push starts, and why or why not. */
export function selectStacks(stacks: readonly Stack[], push: Push): readonly Selection[] {
  const effort = { left: maxSteps };
  return stacks.map((stack) => {
    const type = push.branch === stack.settings.branch ? 'TRACKED' : 'PROPOSED';
    const isNew = type === 'TRACKED' && push.newStacks?.includes(stack.id);
    const reason =
      affectedBy(stack, push.changedPaths, effort) ??
      (isNew ? 'the repository file has added the stack' : null);
    if (reason === null) {
      return { stack, selected: false, reason: 'no changed path belongs to the stack' };
    }
    return { stack, selected: true, type, reason };
  });
}

function affectedBy(stack: Stack, paths: readonly string[] | null, effort: Effort): string | null {
  if (paths === null) return 'the list of changed paths is not complete';
  const { projectRoot, additionalProjectGlobs } = stack.settings;
  if (projectRoot === '') return paths.length > 0 ? 'the project root is the whole repository' : null;
  const inRoot = paths.find((path) => path === projectRoot || path.startsWith(`${projectRoot}/`));
  if (inRoot !== undefined) return `${inRoot} is below the project root`;
  if (additionalProjectGlobs.length === 0) return null;
  for (const text of additionalProjectGlobs) {
    if (effort.left < 0) return tooMuch;
    const glob = compileGlob(text);
    // Settings are judged before they are stored: this one is of a server that judged otherwise.
    if (glob.kind === 'problem') return `the additional project glob ${text} cannot be read`;
    const matched = paths.find((path) => glob.matches(path, effort));
    if (matched !== undefined) return `${matched} matches an additional project glob`;
  }
  return effort.left < 0 ? tooMuch : null;
}

const tooMuch = 'there are too many changed paths to compare all of them with its globs';
