/** What one index gave: ids that fit, newest first. */
export interface Found {
  readonly ids: readonly string[];
  /** Everything from this id on was looked at, nothing older. Null: all there is. */
  readonly lookedTo: string | null;
}

/**
 * One page of what several indexes gave. As far as one of them was not looked at nothing can be said of what comes
 * next, so that the page ends there; `next` leads on.
 */
export function newestFirst(
  found: readonly Found[],
  limit: number,
): { readonly ids: readonly string[]; readonly next: string | null } {
  const ends = found.flatMap(({ lookedTo }) => lookedTo ?? []);
  const horizon = ends.sort().at(-1) ?? null;
  const ids = [...new Set(found.flatMap((each) => each.ids))].sort().reverse();
  const certain = horizon === null ? ids : ids.filter((id) => id >= horizon);
  if (certain.length <= limit) return { ids: certain, next: horizon };
  const shown = certain.slice(0, limit);
  return { ids: shown, next: shown.at(-1) ?? null };
}
