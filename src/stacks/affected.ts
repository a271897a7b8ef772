import { compileGlob, type Effort } from './glob.ts';
import type { Stack } from './stack.ts';

/** For all globs and paths of an event together: less than a second, in which the server does nothing else. */
export const newEffort = (): Effort => ({ left: 20_000_000 });

/**
 * Why changed paths concern a stack; null when they do not. Paths count from the repository's root; null when their
 * list cannot be trusted: then every stack counts as concerned.
 */
export function affectedBy(stack: Stack, paths: readonly string[] | null, effort: Effort): string | null {
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

/** Why a stack is not concerned, whatever the event. */
export const notAffected = 'no changed path belongs to the stack';
