// @ts-check
/**
 * A line of terminal output as text with classes. Colours and the like (SGR) become classes; every other sequence and
 * control character is dropped. Nothing printable is lost but what stands inside of a sequence.
 *
 * @typedef {object} Style What holds until another sequence changes it.
 * @property {number | null} fore 0 to 15.
 * @property {number | null} back
 * @property {boolean} bold
 * @property {boolean} dim
 * @property {boolean} italic
 * @property {boolean} underline
 * @property {boolean} inverse
 * @property {boolean} strike
 *
 * @typedef {{ readonly text: string, readonly classes: string }} Part
 */

/** @type {Readonly<Style>} */
export const plainStyle = Object.freeze({
  ...{ fore: null, back: null },
  ...{ bold: false, dim: false, italic: false, underline: false, inverse: false, strike: false },
});

/**
 * CSI; OSC, DCS and the like with what they say, of which an honest one is short; any other escape. A sequence that is
 * cut off is its first two characters: it hides nothing of what follows.
 */
const sequence =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /\x1b(?:\[([0-?]*)([ -/]*)([@-~])|[\]PX^_][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)|[ -/]*[0-~])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is dropped
const controls = /[\0-\x08\x0a-\x1f\x7f-\x9f]/g;

/**
 * @param {string} line Without its newline.
 * @param {Readonly<Style>} style As the line before left it.
 * @returns {{ readonly parts: readonly Part[], readonly style: Readonly<Style> }}
 */
export function parseAnsi(line, style) {
  /** @type {Part[]} */
  const parts = [];
  let now = style;
  let at = 0;
  /** @param {number} end */
  const take = (end) => {
    const text = line.slice(at, end).replace(controls, '');
    if (text === '') return;
    const classes = classesOf(now);
    const last = parts.at(-1);
    if (last?.classes === classes) parts[parts.length - 1] = { text: last.text + text, classes };
    else parts.push({ text, classes });
  };
  // Most lines have none.
  if (line.includes('\x1b')) {
    for (const match of line.matchAll(sequence)) {
      take(match.index);
      at = match.index + match[0].length;
      if (match[3] === 'm' && match[2] === '') now = styled(now, match[1] ?? '');
    }
  }
  take(line.length);
  return { parts, style: now };
}

/** What can be read of a line. @param {string} line */
export const plainText = (line) => line.replace(sequence, '').replace(controls, '');

/** @param {Readonly<Style>} style */
function classesOf({ fore, back, bold, dim, italic, underline, inverse, strike }) {
  return [
    fore === null ? '' : `ansi-fore-${fore}`,
    back === null ? '' : `ansi-back-${back}`,
    bold ? 'ansi-bold' : '',
    dim ? 'ansi-dim' : '',
    italic ? 'ansi-italic' : '',
    underline ? 'ansi-underline' : '',
    inverse ? 'ansi-inverse' : '',
    strike ? 'ansi-strike' : '',
  ]
    .filter((name) => name !== '')
    .join(' ');
}

/** What a single number of an SGR sequence changes. @type {ReadonlyMap<number, Partial<Style>>} */
const changes = new Map(
  /** @type {[number, Partial<Style>][]} */ ([
    [0, plainStyle],
    [1, { bold: true }],
    [2, { dim: true }],
    [3, { italic: true }],
    [4, { underline: true }],
    [7, { inverse: true }],
    [9, { strike: true }],
    [21, { underline: true }],
    [22, { bold: false, dim: false }],
    [23, { italic: false }],
    [24, { underline: false }],
    [27, { inverse: false }],
    [29, { strike: false }],
    [39, { fore: null }],
    [49, { back: null }],
  ]),
);
for (let colour = 0; colour < 8; colour += 1) {
  const both = /** @type {Map<number, Partial<Style>>} */ (changes);
  both.set(30 + colour, { fore: colour }).set(90 + colour, { fore: 8 + colour });
  both.set(40 + colour, { back: colour }).set(100 + colour, { back: 8 + colour });
}

/** @param {Readonly<Style>} style @param {string} parameters @returns {Readonly<Style>} */
function styled(style, parameters) {
  // Private ones change no colours.
  if (/[<=>?]/.test(parameters)) return style;
  const numbers = parameters.split(';').map((each) => (each.includes(':') ? -1 : Number(each)));
  let now = style;
  for (let index = 0; index < numbers.length; index += 1) {
    const number = numbers[index] ?? 0;
    if (number !== 38 && number !== 48) {
      now = { ...now, ...changes.get(number) };
      continue;
    }
    // No more of them belong to one: a sequence may be a megabyte of such numbers.
    const { colour, used } = chosen(numbers.slice(index + 1, index + 5));
    // Nobody knows how much of the rest belongs to it.
    if (used === 0) return now;
    if (colour !== null) now = { ...now, [number === 38 ? 'fore' : 'back']: colour };
    index += used;
  }
  return now;
}

/** Of 256 colours or 16 million, the nearest of our sixteen; `used`: 0 for neither. @param {readonly number[]} numbers */
function chosen([kind, ...rest]) {
  if (kind === 5) return { colour: ofPalette(rest[0] ?? 0), used: 2 };
  if (kind === 2) return { colour: nearest(rest[0] ?? 0, rest[1] ?? 0, rest[2] ?? 0), used: 4 };
  return { colour: null, used: 0 };
}

/** @param {number} index */
function ofPalette(index) {
  if (!(index >= 0 && index <= 255)) return null;
  if (index < 16) return Math.floor(index);
  if (index >= 232) return nearest(...gray((index - 232) * 10 + 8));
  const cube = index - 16;
  const level = (/** @type {number} */ step) => (step === 0 ? 0 : 55 + 40 * step);
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

/** @param {number} level @returns {[number, number, number]} */
const gray = (level) => [level, level, level];

/** @param {number} red @param {number} green @param {number} blue */
function nearest(red, green, blue) {
  const most = Math.max(red, green, blue);
  if (!(most > 48)) return 0;
  const isGray = most - Math.min(red, green, blue) < 32;
  if (isGray) return most < 128 ? 8 : most < 220 ? 7 : 15;
  const bit = (/** @type {number} */ value, /** @type {number} */ place) => (value > most / 2 ? place : 0);
  return bit(red, 1) + bit(green, 2) + bit(blue, 4) + (most > 200 ? 8 : 0);
}
