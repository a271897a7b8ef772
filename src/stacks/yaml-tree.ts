import {
  Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type YAMLError,
} from 'yaml';
import { type FileProblem, type FileProblems, type Position, shownKey } from './file-problems.ts';

/** YAML without its surprises: maps with distinct text keys, lists, and scalars that remember how they were written. */
export type YamlNode =
  | { readonly kind: 'map'; readonly at: Position; readonly entries: readonly YamlEntry[] }
  | { readonly kind: 'list'; readonly at: Position; readonly items: readonly YamlNode[] }
  | {
      readonly kind: 'scalar';
      readonly at: Position;
      readonly value: string | number | boolean | null;
      /** As it stands in the file, before quotes and escapes are taken away from a quoted one. */
      readonly source: string;
    };

export interface YamlEntry {
  readonly key: string;
  readonly at: Position;
  readonly value: YamlNode;
}

/** The parser takes about a second for the worst text of this size; people's files are a hundredth of it. */
export const maxFileBytes = 128 * 1024;
const maxDepth = 20;

/**
 * Reads one YAML 1.2 document. Never throws: everything that is wrong becomes a problem. Refused beyond what is
 * no YAML: aliases and merge keys (a small file could stand for a huge one), tags, directives, further documents.
 * Null for a file without content, and for one that cannot be read at all.
 */
export function readYaml(bytes: Uint8Array, problems: FileProblems): YamlNode | null {
  const text = decode(bytes);
  if (typeof text !== 'string') {
    problems.add(text, text.message);
    return null;
  }
  const lines = new LineCounter();
  let document: Document.Parsed | Document;
  try {
    document = parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      // 'silent' would let further documents pass.
      logLevel: 'error',
      // Asked of each key against all others, it takes minutes for a large map; `walk` asks once for each.
      uniqueKeys: false,
    });
  } catch {
    problems.add(start, 'this is not YAML that can be read');
    return null;
  }
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const wrong = [...document.errors, ...document.warnings];
  for (const error of wrong) problems.add(at(error.pos[0]), () => wording(error));
  // What the parser guessed behind its first error would only add noise.
  if (wrong.length > 0) return null;
  const directives = document instanceof Document ? document.directives?.yaml : undefined;
  if (directives?.explicit && directives.version !== '1.2') {
    problems.add(start, `YAML ${directives.version} is not read here; leave the %YAML line out`);
    return null;
  }
  return document.contents ? walk(document.contents, start, 0, { at, problems }) : null;
}

const start: Position = { line: 1, column: 1 };

interface Walk {
  readonly at: (offset: number) => Position;
  readonly problems: FileProblems;
}

/** `fallback`: where a value that was left out would stand. */
function walk(node: unknown, fallback: Position, depth: number, context: Walk): YamlNode {
  const position = positionOf(node, fallback, context);
  const nothing = { kind: 'scalar', at: position, value: null, source: '' } as const;
  const refuse = (message: string) => {
    context.problems.add(position, message);
    return nothing;
  };
  if (node === null || node === undefined) return nothing;
  if (depth > maxDepth) return refuse('this is nested too deeply');
  if (isAlias(node)) return refuse('aliases (*) are not supported; write the value out');
  if ((node as Node).tag !== undefined) return refuse('tags (!) are not supported');
  if (isMap(node)) {
    const entries = entriesOf(node.items, position, depth, context);
    return { kind: 'map', at: position, entries };
  }
  if (isSeq(node)) {
    const items = node.items.map((item) => walk(item, position, depth + 1, context));
    return { kind: 'list', at: position, items };
  }
  if (!isScalar(node)) return refuse('this cannot be read');
  const { value, source = '' } = node;
  if (value === null) return { ...nothing, at: source === '' ? fallback : position, source };
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    return refuse('only text, numbers, true and false can stand here');
  }
  return { kind: 'scalar', at: position, value, source };
}

function entriesOf(pairs: readonly Pair[], map: Position, depth: number, context: Walk): YamlEntry[] {
  const seen = new Map<string, Position>();
  return pairs.flatMap((pair) => {
    const at = positionOf(pair.key, map, context);
    const key = keyText(pair.key);
    const refuse = (message: string) => {
      context.problems.add(at, message);
      return [];
    };
    if (key === null) return refuse('a key must be plain text');
    if (key === '<<') return refuse('merge keys (<<) are not supported; write the values out');
    const before = seen.get(key);
    if (before) return refuse(`${shownKey(key)} stands here twice, first in line ${before.line}`);
    seen.set(key, at);
    return [{ key, at, value: walk(pair.value, at, depth + 1, context) }];
  });
}

function keyText(key: unknown): string | null {
  if (!isScalar(key) || key.tag !== undefined) return null;
  // `1:` and `true:` are keys as they are written.
  return typeof key.value === 'string' ? key.value : (key.source ?? null);
}

function positionOf(node: unknown, fallback: Position, { at }: Walk): Position {
  const range = (node as Partial<Node> | null)?.range;
  return range ? at(range[0]) : fallback;
}

function decode(bytes: Uint8Array): string | FileProblem {
  if (bytes.length > maxFileBytes) {
    const message = `the file has ${bytes.length} bytes; ${maxFileBytes} are the most that is read`;
    return { ...start, message };
  }
  const text = new TextDecoder().decode(bytes);
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { ...positionIn(text, text.indexOf('\ufffd')), message: 'the file is not UTF-8 text' };
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  const control = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/.exec(text);
  if (!control) return text;
  return { ...positionIn(text, control.index), message: 'control characters are not allowed' };
}

function positionIn(text: string, index: number): Position {
  const before = text.slice(0, index).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** In place of the library's words where those are about the library. */
function wording({ code, message }: YAMLError): string {
  switch (code) {
    case 'MULTIPLE_DOCS':
      return 'the file must be one document; a second one begins here (---)';
    case 'RESOURCE_EXHAUSTION':
      return 'this is nested too deeply';
    case 'TAG_RESOLVE_FAILED':
      return 'tags (!) are not supported';
    default:
      return `not valid YAML: ${message}`;
  }
}
