/** Paths among which those of a directory are found without a look at the others. */
export interface PathIndex {
  readonly isEmpty: boolean;
  /** The path that is the directory itself (a symlink, a submodule), and all below it; "" holds all of them. */
  under(directory: string): Iterable<string>;
}

export function indexPaths(paths: readonly string[]): PathIndex {
  const sorted = paths.toSorted(byCodeUnits);

  /** The first of what is not less than `wanted`. */
  function lowerBound(wanted: string): number {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle] as string) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    isEmpty: paths.length === 0,
    *under(directory) {
      if (directory === '') {
        yield* sorted;
        return;
      }
      const itself = sorted[lowerBound(directory)];
      if (itself === directory) yield itself;
      const inside = `${directory}/`;
      for (let index = lowerBound(inside); index < sorted.length; index += 1) {
        const path = sorted[index] as string;
        if (!path.startsWith(inside)) return;
        yield path;
      }
    },
  };
}

/** As `<` compares: a locale's order would tear a directory apart. */
const byCodeUnits = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
