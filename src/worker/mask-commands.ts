/**
 * Lines by which a command says that a value is secret: `::add-mask::<value>`, or `::add-mask <value> <value>...`. They
 * are taken out of its output.
 */
export interface MaskCommands {
  /** The output without such lines, in pieces; `onValues` is called between the piece before a line and the one after it. */
  write(chunk: Uint8Array, pass: (piece: Uint8Array) => void): void;
  end(pass: (piece: Uint8Array) => void): void;
}

const command = Buffer.from('::add-mask');
/** A longer line is none of them. */
const longestLine = 64 * 1024;
const newline = 0x0a;

export function createMaskCommands(onValues: (values: readonly string[]) => void): MaskCommands {
  /** Of a line that may be a command: its beginning so far. Null when it is none. */
  let line: Buffer | null = Buffer.alloc(0);

  const mayBeCommand = (bytes: Buffer) =>
    bytes.length <= longestLine &&
    bytes.subarray(0, command.length).equals(command.subarray(0, Math.min(bytes.length, command.length)));

  return {
    write(chunk, pass) {
      let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      let plain = 0;
      for (let at = 0; at < rest.length; ) {
        const end = rest.indexOf(newline, at);
        const next = end === -1 ? rest.length : end + 1;
        if (line === null) {
          // In the middle of a line that is none.
          if (end !== -1) line = Buffer.alloc(0);
          at = next;
          continue;
        }
        const whole: Buffer = Buffer.concat([line, rest.subarray(at, next)]);
        if (!mayBeCommand(whole)) {
          // What was kept back of it belongs in front of it.
          if (line.length > 0) {
            rest = Buffer.concat([rest.subarray(plain, at), line, rest.subarray(at)]);
            at = at - plain + line.length;
            plain = 0;
          }
          line = null;
          continue;
        }
        if (at > plain) pass(rest.subarray(plain, at));
        plain = next;
        at = next;
        line = whole;
        if (end === -1) continue;
        const values = valuesOf(whole);
        if (values) onValues(values);
        else pass(whole);
        line = Buffer.alloc(0);
      }
      if (plain < rest.length) pass(rest.subarray(plain));
    },
    end(pass) {
      if (line !== null && line.length > 0) {
        const values = valuesOf(line);
        if (values) onValues(values);
        else pass(line);
      }
      line = Buffer.alloc(0);
    },
  };
}

/** Null when the line is no command. */
function valuesOf(line: Buffer): readonly string[] | null {
  const text = line.toString('utf8').replace(/\r?\n$/, '');
  const [, one, many] = /^::add-mask(?:::(.*)|[ \t](.*))$/s.exec(text) ?? [];
  if (one !== undefined) return [one.trim()];
  return many === undefined ? null : many.split(/\s+/).filter((value) => value !== '');
}
