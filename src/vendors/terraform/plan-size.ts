/**
 * In memory a value takes up to a hundred times its text (`[]`), and a plan is read in one go. One of 40,000 resources
 * with 25 attributes has four million values; ten take half a gigabyte, and some seconds, at the worst.
 */
const maxValues = 10_000_000;

/** Whether JSON may be parsed, judged before that. What stands in texts counts, too. */
export function isReadable(json: Uint8Array): boolean {
  let values = 0;
  for (const byte of json) {
    if (byte === comma || byte === openBracket || byte === openBrace) values += 1;
  }
  return values <= maxValues;
}

const [comma, openBracket, openBrace] = [0x2c, 0x5b, 0x7b];
