/**
 * What happens to output before anyone sees or stores it: known secrets become `***`, wherever chunks are cut, and
 * windows keep the beginning and the end of streams that are too long. Bytes in, bytes out; whoever wants text
 * decodes afterwards.
 */
import { createMatcher, indexNeedles, type NeedleIndex } from './matcher.ts';
import { plainForms, secretForms } from './secret-forms.ts';

export interface Redactor {
  /** What can be passed on by now; the beginning of a possible secret is kept back until it is decided. */
  write(chunk: Uint8Array): Uint8Array;
  /**
   * The rest. When the stream was cut short (output limit, kill), what may be the first half of a secret is
   * hidden, too.
   */
  flush(isCutShort?: boolean): Uint8Array;
}

/** What is to be hidden, made ready once for any number of streams: of many values that takes its time. */
export interface SecretIndex {
  /** Null: nothing. */
  readonly needles: NeedleIndex | null;
}

/**
 * Values of 4 characters or more, as they are and base64-, URL- and JSON-encoded, and single lines of multi-line values
 * (8 characters or more). `plain`: those without base64 and URLs, of which there may be more.
 */
export const indexSecrets = (secrets: readonly string[], plain: readonly string[] = []): SecretIndex => ({
  needles: indexNeedles([...secrets.flatMap(secretForms), ...plain.flatMap(plainForms)]),
});

/** Whether a redactor would hide anything of it. */
export function holdsSecret({ needles }: SecretIndex, text: string): boolean {
  let isFound = false;
  if (needles) createMatcher(needles).feed(Buffer.from(text), () => (isFound = true));
  return isFound;
}

/** A whole text without the secrets. */
export function hideSecrets(index: SecretIndex, text: string, maskText?: string): string {
  if (!holdsSecret(index, text)) return text;
  const redactor = createRedactor(index, maskText);
  return Buffer.concat([redactor.write(Buffer.from(text)), redactor.flush()]).toString('utf8');
}

/** Secrets that overlap or touch become one mask, so nothing of either is left. */
export function createRedactor({ needles }: SecretIndex, maskText = '***'): Redactor {
  const mask = new TextEncoder().encode(maskText);
  const matcher = needles && createMatcher(needles);
  let held: Uint8Array = new Uint8Array(0);
  let heldHidden: Uint8Array = new Uint8Array(0);
  /** Whether the mask for the hidden byte before was written already. */
  let isInMask = false;

  const emit = (bytes: Uint8Array, hidden: Uint8Array): Uint8Array => {
    const parts: Uint8Array[] = [];
    let start = 0;
    while (start < bytes.length) {
      const isHidden = hidden[start] === 1;
      let end = hidden.indexOf(isHidden ? 0 : 1, start);
      if (end < 0 || end > bytes.length) end = bytes.length;
      if (!isHidden) parts.push(bytes.subarray(start, end));
      else if (!isInMask) parts.push(mask);
      isInMask = isHidden;
      start = end;
    }
    return parts.length === 1 ? (parts[0] ?? mask) : Buffer.concat(parts);
  };

  return {
    write(chunk) {
      if (matcher === null) return chunk;
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const hidden = new Uint8Array(bytes.length);
      hidden.set(heldHidden);
      const undecided = matcher.feed(chunk, (end, length) => {
        const position = held.length + end;
        hidden.fill(1, position - length, position);
      });
      const decided = bytes.length - undecided;
      const output = emit(bytes.subarray(0, decided), hidden);
      // Copies, because the caller may use its chunk again.
      held = bytes.slice(decided);
      heldHidden = hidden.slice(decided);
      return output;
    },
    flush(isCutShort = false) {
      if (isCutShort) heldHidden.fill(1);
      const output = emit(held, heldHidden);
      held = new Uint8Array(0);
      heldHidden = new Uint8Array(0);
      isInMask = false;
      matcher?.reset();
      return output;
    },
  };
}

export interface OutputWindow {
  write(chunk: Uint8Array): void;
  /** All bytes that were written. */
  totalBytes(): number;
  /** Beginning and end, with a line between them that says how much is missing. */
  text(): string;
}

export function createOutputWindow({
  headBytes,
  tailBytes,
}: {
  headBytes: number;
  tailBytes: number;
}): OutputWindow {
  const head = new Uint8Array(headBytes);
  // A ring: byte number n behind the head lies at n % tailBytes.
  const tail = new Uint8Array(tailBytes);
  let inHead = 0;
  let behindHead = 0;

  return {
    write(chunk) {
      const first = chunk.subarray(0, headBytes - inHead);
      head.set(first, inHead);
      inHead += first.length;
      const rest = chunk.subarray(first.length);
      behindHead += rest.length;
      const last = rest.subarray(Math.max(0, rest.length - tailBytes));
      if (last.length === 0) return;
      const start = (behindHead - last.length) % tailBytes;
      const untilEnd = last.subarray(0, tailBytes - start);
      tail.set(untilEnd, start);
      tail.set(last.subarray(untilEnd.length), 0);
    },
    totalBytes: () => inHead + behindHead,
    text() {
      const decoder = new TextDecoder();
      const first = head.subarray(0, inHead);
      if (behindHead <= tailBytes)
        return decoder.decode(Buffer.concat([first, tail.subarray(0, behindHead)]));
      const start = tailBytes === 0 ? 0 : behindHead % tailBytes;
      const last = withoutPartialCharacter(Buffer.concat([tail.subarray(start), tail.subarray(0, start)]));
      const missing = headBytes === 0 ? '' : `\n[${behindHead - tailBytes} bytes left out]\n`;
      return decoder.decode(first) + missing + decoder.decode(last);
    },
  };
}

/** A cut through UTF-8 leaves up to three continuation bytes in front. */
function withoutPartialCharacter(bytes: Uint8Array): Uint8Array {
  const start = bytes.subarray(0, 3).findIndex((byte) => (byte & 0xc0) !== 0x80);
  return bytes.subarray(start === -1 ? Math.min(3, bytes.length) : start);
}
