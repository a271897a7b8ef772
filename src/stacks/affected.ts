import { compileGlob, type Effort, type Glob } from './glob.ts';
import { indexPaths, type PathIndex } from './path-index.ts';
import type { Stack } from './stack.ts';

/** For all globs and paths of an event together: less than a second, in which the server does nothing else. */
const mostEffort = 20_000_000;

/**
 * Says of each stack why changed paths concern it; null when they do not. Paths count from the repository's root; null
 * when their list cannot be trusted: then every stack counts as concerned. One for each event: what is worked out for
 * a stack serves the next one too.
 */
export function affectedBy(paths: readonly string[] | null): (stack: Stack) => string | null {
  if (paths === null) return () => 'the list of changed paths is not complete';
  const index = indexPaths(paths);
  const reasonOfGlob = globReasons(index);

  return ({ settings: { projectRoot, additionalProjectGlobs } }) => {
    if (projectRoot === '') return index.isEmpty ? null : 'the project root is the whole repository';
    for (const path of index.under(projectRoot)) return `${path} is below the project root`;
    for (const text of additionalProjectGlobs) {
      const reason = reasonOfGlob(text);
      if (reason !== null) return reason;
    }
    return null;
  };
}

/** Stacks have globs in common, above all where they have many. */
function globReasons(index: PathIndex): (text: string) => string | null {
  const effort: Effort = { left: mostEffort };
  const known = new Map<string, string | null>();

  function reasonOf(text: string): string | null {
    const glob = compileGlob(text);
    // Settings are judged before they are stored: this one is of a server that judged otherwise.
    if (glob.kind === 'problem') return `the additional project glob ${text} cannot be read`;
    const matched = firstMatch(glob, index, effort);
    if (matched !== null) return `${matched} matches an additional project glob`;
    return effort.left < 0 ? tooMuch : null;
  }

  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const reason = effort.left < 0 ? tooMuch : reasonOf(text);
    known.set(text, reason);
    return reason;
  };
}

function firstMatch(glob: Glob, index: PathIndex, effort: Effort): string | null {
  for (const root of glob.roots) {
    for (const path of index.under(root)) {
      if (glob.matches(path, effort)) return path;
      if (effort.left < 0) return null;
    }
  }
  return null;
}

const tooMuch = 'there are too many changed paths to compare all of them with its globs';

/** Why a stack is not concerned, whatever the event. */
export const notAffected = 'no changed path belongs to the stack';
