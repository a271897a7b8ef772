import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { isLarge } from '../runs/plan/large-json.ts';
import { takeTurns } from '../runs/plan/turns.ts';
import type { PlanDocument } from '../runs/run-store.ts';
import { linesIn } from './lines-in.ts';

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/**
 * Deflated lines: the name, then the content, of which each line is a part that can be read at once. `=` and JSON is a
 * value; `[` or `{` begins a large one and `]` ends it; in an object `:` and JSON is the key of the next.
 */
export async function packDocument({ name, content }: PlanDocument): Promise<Buffer> {
  const othersGoOn = takeTurns();
  const lines = [name];
  for (const line of linesOf(content)) {
    lines.push(line);
    await othersGoOn();
  }
  return deflate(lines.join('\n'));
}

function* linesOf(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null || !isLarge(value)) {
    yield `=${JSON.stringify(value)}`;
    return;
  }
  const isList = Array.isArray(value);
  yield isList ? '[' : '{';
  for (const [key, item] of Object.entries(value)) {
    if (!isList) yield `:${JSON.stringify(key)}`;
    yield* linesOf(item);
  }
  yield ']';
}

export async function unpackDocument(packed: Uint8Array): Promise<PlanDocument> {
  const othersGoOn = takeTurns();
  const lines = linesIn(await inflate(packed));
  const next = (): string => {
    const line = lines.next().value;
    if (line === undefined) throw new Error('the document of a plan ends too early');
    return line;
  };

  async function valueFrom(line: string): Promise<unknown> {
    await othersGoOn();
    if (line.startsWith('=')) return JSON.parse(line.slice(1));
    const entries: [string, unknown][] = [];
    const items: unknown[] = [];
    for (let each = next(); each !== ']'; each = next()) {
      if (line === '[') items.push(await valueFrom(each));
      else entries.push([JSON.parse(each.slice(1)), await valueFrom(next())]);
    }
    return line === '[' ? items : Object.fromEntries(entries);
  }

  return { name: next(), content: await valueFrom(next()) };
}
