/**
 * Globs as docs/stacks.md describes them. Not a library: those make regular expressions of globs, and some globs
 * of a repository would then take minutes for one path. This one takes, at worst, the length of the glob times
 * the length of the path.
 */
export interface Glob {
  readonly kind: 'glob';
  /** Directories (or files) under which all that matches lies; one is "" when that may be anywhere. */
  readonly roots: readonly string[];
  /** `path` is relative, with forward slashes. False, too, once `effort` is spent. */
  matches(path: string, effort: Effort): boolean;
}

/** Steps that may still be taken, of some nanoseconds each; matching counts it down. */
export interface Effort {
  left: number;
}

export interface GlobProblem {
  readonly kind: 'problem';
  readonly message: string;
}

/** One character of a path. */
const stepsToSplit = 5;
const maxAlternatives = 64;
const maxDepth = 5;
/** Of all alternatives together. */
const maxTokens = 10_000;

const anything = Symbol('* among characters, ** among segments');

/** One character: itself, any (`?`), or one of ranges. */
type Character = string | { readonly ranges: readonly Range[]; readonly isNegated: boolean };
type Range = readonly [from: number, to: number];
type Token = Character | typeof anything;
type Segment = readonly Token[];
/** The whole of one alternative. */
type Pattern = readonly (Segment | typeof anything)[];

const anyCharacter: Character = { ranges: [], isNegated: true };

/** What the glob says, or what is wrong with it. */
export function compileGlob(text: string): Glob | GlobProblem {
  try {
    const patterns = alternativesOf(text).map(patternOf);
    return {
      kind: 'glob',
      roots: outermost(patterns.map(rootOf)),
      matches(path, effort) {
        effort.left -= path.length * stepsToSplit;
        if (effort.left < 0) return false;
        const segments = path.split('/').map((segment) => Array.from(segment));
        return patterns.some((pattern) =>
          matchesAll(
            pattern,
            segments,
            (segment, given) => matchesAll(segment, given, isCharacter, effort),
            effort,
          ),
        );
      },
    };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { kind: 'problem', message: error.message };
  }
}

/** The segments in front in which nothing is open. */
function rootOf(pattern: Pattern): string {
  const open = pattern.findIndex((segment) => segment === anything || !segment.every(isPlain));
  const plain = open < 0 ? pattern : pattern.slice(0, open);
  return plain.map((segment) => (segment === anything ? [] : segment).join('')).join('/');
}

const isPlain = (token: Token): boolean => typeof token === 'string';

/** Without those that lie under another. */
function outermost(roots: readonly string[]): readonly string[] {
  const unique = [...new Set(roots)];
  const isUnder = (root: string, other: string) => other === '' || root.startsWith(`${other}/`);
  return unique.filter((root) => !unique.some((other) => other !== root && isUnder(root, other)));
}

class Refusal extends Error {}

/**
 * Everything but `anything` stands for exactly one item, so only where the last `anything` ends has to be tried
 * anew: no pair of pattern element and item is compared twice for one `anything`.
 */
function matchesAll<Element, Item>(
  pattern: readonly (Element | typeof anything)[],
  items: readonly Item[],
  matchesOne: (element: Element, item: Item, effort: Effort) => boolean,
  effort: Effort,
): boolean {
  let [at, position] = [0, 0];
  let retry: { readonly at: number; position: number } | null = null;
  while (position < items.length) {
    effort.left -= 1;
    if (effort.left < 0) return false;
    const element = pattern[at];
    if (element === anything) {
      at += 1;
      retry = { at, position };
    } else if (element !== undefined && matchesOne(element, items[position] as Item, effort)) {
      at += 1;
      position += 1;
    } else if (retry) {
      retry.position += 1;
      ({ at, position } = retry);
    } else {
      return false;
    }
  }
  return pattern.slice(at).every((element) => element === anything);
}

function isCharacter(wanted: Character, given: string, effort: Effort): boolean {
  if (typeof wanted === 'string') return wanted === given;
  const { ranges, isNegated } = wanted;
  effort.left -= ranges.length;
  const code = given.codePointAt(0) ?? 0;
  return ranges.some(([from, to]) => from <= code && code <= to) !== isNegated;
}

/** Without braces: all that they stand for, slashes still among the characters. */
function alternativesOf(text: string): readonly Segment[] {
  if (text === '') throw new Refusal('must not be empty');
  if (text.startsWith('!')) throw new Refusal('"!" in front is not supported: a glob cannot exclude');
  if (text.startsWith('/')) throw new Refusal('begins with "/"; paths count from the repository\'s root');
  const given = Array.from(text.replace(/^\.\//, ''));
  let [position, tokens] = [0, 0];

  function sequence(depth: number): Token[][] {
    if (depth > maxDepth) throw new Refusal(`braces are nested more than ${maxDepth} deep`);
    const done: Token[][] = [];
    let open: Token[][] = [[]];
    while (position < given.length) {
      const character = given[position] as string;
      if (character === '}') {
        if (depth === 0) throw new Refusal('"}" has no "{" before it');
        if (done.length === 0) throw new Refusal('braces need alternatives, as in {a,b}');
        position += 1;
        return counted([...done, ...open]);
      }
      if (character === '{') {
        position += 1;
        const inner = sequence(depth + 1);
        open = counted(open.flatMap((before) => inner.map((after) => [...before, ...after])));
      } else if (character === ',' && depth > 0) {
        position += 1;
        done.push(...open);
        open = [[]];
      } else {
        const token = readToken();
        for (const each of open) each.push(token);
        tokens += open.length;
      }
      if (tokens > maxTokens) throw new Refusal('its braces stand for too much; use several globs');
    }
    if (depth > 0) throw new Refusal('"{" has no "}" behind it');
    return open;
  }

  function counted(alternatives: Token[][]): Token[][] {
    if (alternatives.length > maxAlternatives) {
      throw new Refusal(`its braces stand for more than ${maxAlternatives} alternatives; use several globs`);
    }
    tokens += alternatives.reduce((sum, { length }) => sum + length, 0);
    return alternatives;
  }

  function readToken(): Token {
    const character = given[position] as string;
    if (/^[?*+@!]$/.test(character) && given[position + 1] === '(') {
      throw new Refusal(`"${character}(" is not supported; write alternatives as {a,b}`);
    }
    if (character === '\\') throw new Refusal('a backslash is not supported; write [*] for a plain *');
    if (character === '|') throw new Refusal('"|" is not supported; write alternatives as {a,b}');
    if (/^\p{Cc}$/u.test(character)) throw new Refusal('control characters are not supported');
    if (character === '[') return readClass();
    position += 1;
    if (character === '*') return anything;
    return character === '?' ? anyCharacter : character;
  }

  function readClass(): Character {
    const end = given.indexOf(']', position);
    if (end < 0) throw new Refusal('"[" has no "]" behind it; write [[] for a plain [');
    const inside = given.slice(position + 1, end);
    position = end + 1;
    const isNegated = inside[0] === '!';
    const members = isNegated ? inside.slice(1) : inside;
    const shown = `[${inside.join('')}]`;
    if (members.length === 0) throw new Refusal(`${shown} names no character`);
    if (members[0] === '^') throw new Refusal(`${shown} is not supported; write [!...] for "none of"`);
    if (/[/\\]|\[[:.=]/.test(members.join(''))) throw new Refusal(`${shown} is not supported`);
    return { ranges: rangesOf(members, shown), isNegated };
  }

  return sequence(0);
}

function rangesOf(members: readonly string[], shown: string): readonly Range[] {
  const ranges: Range[] = [];
  const code = (index: number) => members[index]?.codePointAt(0) ?? 0;
  for (let index = 0; index < members.length; index += 1) {
    const isRange = members[index + 1] === '-' && index + 2 < members.length;
    const range: Range = [code(index), code(isRange ? index + 2 : index)];
    if (range[0] > range[1]) throw new Refusal(`${shown} has a range that runs backwards`);
    ranges.push(range);
    if (isRange) index += 2;
  }
  return ranges;
}

function patternOf(alternative: Segment): Pattern {
  const segments: Token[][] = [[]];
  for (const token of alternative) {
    if (token === '/') segments.push([]);
    else segments.at(-1)?.push(token);
  }
  return segments.map((segment, index) => {
    if (segment.length === 0) {
      throw new Refusal(
        index > 0 && index === segments.length - 1
          ? 'ends in "/"; write "/**" for everything below a directory'
          : 'has an empty segment',
      );
    }
    if (segment.every((token) => token === '.') && segment.length <= 2) {
      throw new Refusal('"." and ".." are not supported as segments');
    }
    const stars = segment.filter((token, at) => token === anything && segment[at + 1] === anything).length;
    if (stars === 0) return segment;
    if (segment.length === 2) return anything;
    throw new Refusal('"**" must be a whole segment, as in a/**/b');
  });
}
