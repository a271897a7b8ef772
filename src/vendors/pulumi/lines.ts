export type Line =
  | { readonly kind: 'line'; readonly text: string }
  /** More than the allowed bytes without a newline; nothing follows. */
  | { readonly kind: 'too-long' }
  /** The bytes end without a newline: whoever wrote them was cut off. */
  | { readonly kind: 'unfinished' };

const newline = 0x0a;

/** Splits bytes at `\n`, holding one line at most. Chunks may cut anywhere, inside a character too. */
export async function* splitLines(
  bytes: AsyncIterable<Uint8Array>,
  maxLineBytes: number,
): AsyncGenerator<Line, void, undefined> {
  const decoder = new TextDecoder();
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      length += end - start;
      if (length > maxLineBytes) return yield { kind: 'too-long' };
      // Decoded whole and at once: a decoder fed in parts would keep half a character for the next line.
      const line =
        parts.length === 0
          ? chunk.subarray(start, end)
          : Buffer.concat([...parts, chunk.subarray(start, end)]);
      yield { kind: 'line', text: decoder.decode(line) };
      parts = [];
      length = 0;
      start = end + 1;
    }
    if (start < chunk.length) {
      // A copy, which Buffer's own slice is not: whoever gives us the chunk may use its memory again.
      parts.push(Buffer.from(chunk.subarray(start)));
      length += chunk.length - start;
    }
    if (length > maxLineBytes) return yield { kind: 'too-long' };
  }
  if (length > 0) yield { kind: 'unfinished' };
}
