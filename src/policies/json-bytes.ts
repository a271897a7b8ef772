import { isLarge } from '../runs/plan/large-json.ts';
import { takeTurns } from '../runs/plan/turns.ts';

/** What is deeper is written at once, and so is what is small. */
const levels = 20;

/** JSON text in UTF-8, written piece by piece: an input of 20 MB must not hold up all else. Null for what JSON cannot say. */
export async function jsonBytes(given: unknown): Promise<Buffer | null> {
  const othersGoOn = takeTurns();
  const pieces: Buffer[] = [];
  let text = '';
  try {
    for (const piece of piecesOf(given, levels)) {
      text += piece;
      if (text.length < pieceLength) continue;
      pieces.push(Buffer.from(text));
      text = '';
      await othersGoOn();
    }
  } catch {
    return null;
  }
  pieces.push(Buffer.from(text));
  const bytes = Buffer.concat(pieces);
  return bytes.length === 0 ? null : bytes;
}

const pieceLength = 64 * 1024;

/** As JSON.stringify writes it; nothing for what it leaves out. */
function* piecesOf(value: unknown, depth: number): Generator<string> {
  if (depth === 0 || !isPlain(value) || !isLarge(value)) {
    const text = JSON.stringify(value);
    if (text !== undefined) yield text;
  } else if (Array.isArray(value)) {
    yield '[';
    for (const [index, item] of value.entries()) {
      if (index > 0) yield ',';
      yield* isSaid(item) ? piecesOf(item, depth - 1) : ['null'];
    }
    yield ']';
  } else {
    let separator = '{';
    for (const [key, item] of Object.entries(value)) {
      if (!isSaid(item)) continue;
      yield `${separator}${JSON.stringify(key)}:`;
      yield* piecesOf(item, depth - 1);
      separator = ',';
    }
    yield separator === '{' ? '{}' : '}';
  }
}

/** Values that JSON leaves out. */
const isSaid = (value: unknown): boolean => !['undefined', 'function', 'symbol'].includes(typeof value);

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !('toJSON' in value);
}
