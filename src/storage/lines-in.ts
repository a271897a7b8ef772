/** The lines of UTF-8 text, without turning all of it into one string. */
export function* linesIn(text: Buffer): Generator<string, undefined> {
  for (let start = 0; start <= text.length; ) {
    const newline = text.indexOf(0x0a, start);
    const end = newline === -1 ? text.length : newline;
    yield text.toString('utf8', start, end);
    start = end + 1;
  }
}
