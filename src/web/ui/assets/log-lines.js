// @ts-check
/** What the lines of a log mean: which command wrote them, what of a very long one is shown, what was looked for. */
import { parseAnsi } from './ansi.js';

/**
 * @typedef {{ readonly kind: 'start', readonly command: string }
 *   | { readonly kind: 'end', readonly result: string }} Mark
 * @typedef {'inside' | 'between'} Place Inside of a command's output, or between two commands.
 * @typedef {import('./ansi.js').Part & { readonly isMatch?: boolean }} ShownPart
 */

/**
 * The lines that the worker writes around the output of a command. What a command prints itself looks like a new one
 * only after it wrote an end.
 *
 * @param {string} line
 * @param {Place} place
 * @returns {Mark | null}
 */
export function markOf(line, place) {
  if (place === 'between') return line.startsWith('$ ') ? { kind: 'start', command: line.slice(2) } : null;
  const result = /^\[(.{1,300} in \d+\.\d\d s)\]$/.exec(line)?.[1];
  return result === undefined ? null : { kind: 'end', result };
}

/** @param {Mark | null} mark @param {Place} place @returns {Place} */
export function placeAfter(mark, place) {
  if (mark === null) return place;
  return mark.kind === 'start' ? 'inside' : 'between';
}

/** A line that is longer is data; whoever wants all of it has the download. */
const shownCharacters = 5000;

/**
 * A line as it is shown, its matches marked.
 *
 * @param {string} line
 * @param {Readonly<import('./ansi.js').Style>} style
 * @param {string} query In lower case; "" marks nothing.
 * @returns {{ readonly parts: readonly ShownPart[], readonly style: Readonly<import('./ansi.js').Style>, readonly hidden: number }}
 */
export function shownLine(line, style, query) {
  const parsed = parseAnsi(line, style);
  let left = shownCharacters;
  let hidden = 0;
  /** @type {import('./ansi.js').Part[]} */
  const kept = [];
  for (const { text, classes } of parsed.parts) {
    const shown = text.length <= left ? text : text.slice(0, left);
    left -= shown.length;
    hidden += text.length - shown.length;
    if (shown !== '') kept.push({ text: shown, classes });
  }
  return { parts: query === '' ? kept : withMatches(kept, query), style: parsed.style, hidden };
}

/**
 * The parts once more, cut where a match begins or ends.
 *
 * @param {readonly import('./ansi.js').Part[]} parts
 * @param {string} query
 * @returns {ShownPart[]}
 */
export function withMatches(parts, query) {
  const ranges = matchesIn(parts.map(({ text }) => text).join(''), query);
  if (ranges.length === 0) return [...parts];
  const cuts = [...new Set(ranges.flatMap(({ from, to }) => [from, to]))];
  /** @type {ShownPart[]} */
  const cut = [];
  let start = 0;
  for (const { text, classes } of parts) {
    const end = start + text.length;
    const borders = [start, ...cuts.filter((place) => place > start && place < end), end];
    for (const [index, from] of borders.slice(0, -1).entries()) {
      const to = borders[index + 1] ?? end;
      const isMatch = ranges.some((range) => from >= range.from && to <= range.to);
      cut.push({ text: text.slice(from - start, to - start), classes, ...(isMatch ? { isMatch } : {}) });
    }
    start = end;
  }
  return cut;
}

/**
 * @param {string} text
 * @param {string} query In lower case.
 */
function matchesIn(text, query) {
  const lower = text.toLowerCase();
  // A few letters change their length in lower case; then places in one are none in the other.
  const searched = lower.length === text.length ? lower : text;
  const found = [];
  for (let at = searched.indexOf(query); at !== -1; at = searched.indexOf(query, at + query.length)) {
    found.push({ from: at, to: at + query.length });
  }
  return found;
}
