// @ts-check
/**
 * The output of one phase in the page. All lines are kept as text; elements are made only for those near what is seen,
 * and dropped again when they are far away.
 */
import { parseAnsi, plainStyle, plainText } from './ansi.js';
import { markOf, placeAfter, shownLine } from './log-lines.js';

/**
 * @typedef {object} Chunk Some lines, one after the other, of one command.
 * @property {HTMLElement} element
 * @property {number} from Index of its first line.
 * @property {number} to Behind its last one.
 * @property {Readonly<import('./ansi.js').Style>} style What holds where it begins.
 * @property {boolean} isDrawn
 *
 * @typedef {ReturnType<typeof createLogPhase>} LogPhase
 */

/** As in log.css. */
const lineHeight = 20;
const linesOfChunk = 200;

/**
 * @param {object} options
 * @param {string} options.name
 * @param {HTMLElement} options.host Emptied when the first text comes.
 * @param {number} options.firstLine Number of the first line that comes.
 * @param {() => string} options.query What is looked for, in lower case.
 */
export function createLogPhase({ name, host, firstLine, query }) {
  /** @type {string[]} */
  let lines = [];
  /** @type {Chunk[]} */
  let chunks = [];
  /** By index: lines that begin a command are its heading. @type {Map<number, HTMLElement>} */
  let headings = new Map();
  let first = firstLine;
  /** What has no newline yet. */
  let rest = '';
  let style = plainStyle;
  /** In the middle of a log nobody knows what a line belongs to. @type {import('./log-lines.js').Place} */
  let place = firstLine === 1 ? 'between' : 'inside';
  /** @type {HTMLElement | null} Where lines of the command go; null: a new one must be made. */
  let open = null;
  /** @type {HTMLElement | null} */
  let result = null;
  /** @type {WeakMap<Element, Chunk>} */
  const chunkOf = new WeakMap();

  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        const chunk = chunkOf.get(target);
        if (chunk && isIntersecting !== chunk.isDrawn) isIntersecting ? draw(chunk) : drop(chunk);
      }
    },
    { rootMargin: '1500px 0px' },
  );

  /** @param {Chunk} chunk */
  function draw(chunk) {
    chunk.isDrawn = true;
    let at = chunk.style;
    const drawn = lines.slice(chunk.from, chunk.to).map((line, offset) => {
      const shown = shownLine(line, at, query());
      at = shown.style;
      return elementOf(chunk.from + offset, shown);
    });
    chunk.element.replaceChildren(...drawn);
  }

  /** @param {Chunk} chunk */
  function drop(chunk) {
    chunk.isDrawn = false;
    chunk.element.replaceChildren();
  }

  /** @param {number} index @param {ReturnType<typeof shownLine>} shown */
  function elementOf(index, { parts, hidden }) {
    const line = document.createElement('div');
    line.className = 'line';
    line.id = `${name}-${first + index}`;
    const link = document.createElement('a');
    link.href = `#${line.id}`;
    link.tabIndex = -1;
    link.textContent = String(first + index);
    const text = document.createElement('span');
    for (const { text: words, classes, isMatch } of parts) {
      const part = document.createElement(isMatch ? 'mark' : 'span');
      part.className = classes;
      part.textContent = words;
      text.append(part);
    }
    if (hidden > 0) {
      const more = document.createElement('i');
      more.textContent = `… ${hidden} more characters`;
      text.append(more);
    }
    line.append(link, text);
    return line;
  }

  /** @param {string} line */
  function add(line) {
    const index = lines.push(line) - 1;
    const mark = markOf(line.includes('\x1b') ? plainText(line) : line, place);
    place = placeAfter(mark, place);
    if (mark?.kind === 'start') return begin(index, mark.command);
    open ??= /** @type {HTMLElement} */ (host.appendChild(document.createElement('div')));
    let chunk = chunks.at(-1);
    if (!chunk || chunk.element.parentElement !== open || chunk.to - chunk.from >= linesOfChunk) {
      chunk = newChunk(index, open);
    }
    chunk.to = index + 1;
    if (line.includes('\x1b')) style = parseAnsi(line, style).style;
    touched.add(chunk);
    if (mark?.kind !== 'end') return;
    if (result) result.textContent = mark.result;
    open = null;
    result = null;
  }

  /** @param {number} index @param {HTMLElement} parent */
  function newChunk(index, parent) {
    const element = document.createElement('div');
    element.className = 'lines';
    const chunk = { element, from: index, to: index, style, isDrawn: false };
    chunks.push(chunk);
    chunkOf.set(element, chunk);
    parent.append(element);
    observer.observe(element);
    return chunk;
  }

  /** @param {number} index @param {string} command */
  function begin(index, command) {
    const details = document.createElement('details');
    details.className = 'command';
    details.open = true;
    const summary = document.createElement('summary');
    summary.id = `${name}-${first + index}`;
    const code = document.createElement('code');
    code.textContent = `$ ${command}`;
    result = document.createElement('span');
    result.className = 'result';
    summary.append(code, ' ', result);
    details.append(summary);
    host.append(details);
    headings.set(index, summary);
    open = details;
  }

  /** Chunks that grew: measured and drawn once, when all lines are in. @type {Set<Chunk>} */
  const touched = new Set();

  function settle() {
    for (const chunk of touched) {
      chunk.element.style.height = `${(chunk.to - chunk.from) * lineHeight}px`;
      // The first ones at once, in the place of what the page came with: nothing flickers.
      if (chunk.isDrawn || chunks.length <= 20) draw(chunk);
    }
    touched.clear();
  }

  function clear() {
    observer.disconnect();
    host.replaceChildren();
    [lines, chunks, headings] = [[], [], new Map()];
    [open, result] = [null, null];
    style = plainStyle;
  }

  let isFresh = true;

  return {
    name,
    /** @returns {readonly string[]} */
    lines: () => lines,
    firstLine: () => first,

    /** @param {string} text */
    append(text) {
      if (isFresh) clear();
      isFresh = false;
      const added = (rest + text).split('\n');
      rest = added.pop() ?? '';
      for (const line of added) add(line);
      settle();
    },

    /** Nothing follows: what has no newline is a line, too. */
    finish() {
      if (rest !== '') add(rest);
      rest = '';
      settle();
    },

    /** What was not loaded stands before the rest now. @param {string} earlier All of it. */
    prepend(earlier) {
      const all = earlier.split('\n');
      // Empty, unless the page came with no beginning of a line.
      const cut = all.pop() ?? '';
      if (cut !== '') all.push(cut + (lines.shift() ?? ''));
      for (const line of lines) all.push(line);
      clear();
      first = 1;
      place = 'between';
      isFresh = false;
      for (const line of all) add(line);
      settle();
    },

    /** Draws once more what is drawn: something else is looked for. */
    redraw() {
      for (const chunk of chunks) if (chunk.isDrawn) draw(chunk);
    },

    /** The element of a line, unfolded; null when there is none. @param {number} index */
    reveal(index) {
      const chunk = chunks.find(({ from, to }) => index >= from && index < to);
      if (chunk && !chunk.isDrawn) draw(chunk);
      const element = chunk?.element.children[index - chunk.from] ?? headings.get(index);
      for (let fold = element?.closest('details'); fold; fold = fold.parentElement?.closest('details')) {
        fold.open = true;
      }
      return /** @type {HTMLElement | null} */ (element ?? null);
    },
  };
}
