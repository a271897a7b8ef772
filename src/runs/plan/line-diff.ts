export interface DiffLine {
  /** `gap`: equal lines that are left out; the text says how many. */
  readonly kind: 'same' | 'removed' | 'added' | 'gap';
  readonly text: string;
}

/** Equal lines that are shown around what differs. */
const context = 3;
/**
 * Above that many pairs of lines what differs is shown as a whole: first what goes, then what comes. An answer may hold
 * some hundred such texts, and whoever wrote the plan chose them.
 */
const mostPairs = 40_000;

/** How two texts differ, line by line. Pure, and bounded in work. */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  const most = Math.min(old.length, now.length) - start;
  while (end < most && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  const middle = between(old.slice(start, old.length - end), now.slice(start, now.length - end));
  const same = (lines: readonly string[]) => lines.map((text): DiffLine => ({ kind: 'same', text }));
  return withGaps([...same(old.slice(0, start)), ...middle, ...same(old.slice(old.length - end))]);
}

/** By the longest common subsequence. */
function between(old: readonly string[], now: readonly string[]): readonly DiffLine[] {
  const removed = (text: string): DiffLine => ({ kind: 'removed', text });
  const added = (text: string): DiffLine => ({ kind: 'added', text });
  if (old.length * now.length > mostPairs) return [...old.map(removed), ...now.map(added)];
  const width = now.length + 1;
  // How many lines the rests of both have in common, from each pair of places on.
  const common = new Uint32Array((old.length + 1) * width);
  const at = (row: number, column: number): number => common[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = now.length - 1; column >= 0; column -= 1) {
      common[row * width + column] =
        old[row] === now[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < old.length || column < now.length) {
    const [gone = '', come = ''] = [old[row], now[column]];
    if (row < old.length && column < now.length && gone === come) {
      lines.push({ kind: 'same', text: gone });
      row += 1;
      column += 1;
    } else if (column === now.length || (row < old.length && at(row + 1, column) >= at(row, column + 1))) {
      lines.push(removed(gone));
      row += 1;
    } else {
      lines.push(added(come));
      column += 1;
    }
  }
  return lines;
}

/** Of equal lines only those that are near to what differs. */
function withGaps(lines: readonly DiffLine[]): readonly DiffLine[] {
  const result: DiffLine[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] as DiffLine;
    if (line.kind !== 'same') {
      result.push(line);
      at += 1;
      continue;
    }
    let end = at;
    while (end < lines.length && lines[end]?.kind === 'same') end += 1;
    const before = at === 0 ? 0 : context;
    const after = end === lines.length ? 0 : context;
    const hidden = end - at - before - after;
    if (hidden <= 1) result.push(...lines.slice(at, end));
    else {
      const text = `${hidden} equal lines`;
      result.push(...lines.slice(at, at + before), { kind: 'gap', text }, ...lines.slice(end - after, end));
    }
    at = end;
  }
  return result;
}
