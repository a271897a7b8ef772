/**
 * What may be shown on a terminal. Logs and messages hold what programs of repositories say, and a terminal obeys them: it
 * renames its window, fills the clipboard, and types answers into the shell. Text and colours pass, nothing else.
 */

/** Colours and the like, which are kept; every other CSI sequence; any other control character but tab and line ends. */
const control =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /(\u001b\[[\d;:]*m)|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;
/** May go on in the next piece. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const unfinished = /(?:\u001b(?:\[[0-?]*[ -/]*)?|\u009b[0-?]*[ -/]*)$/;
/** An honest one is shorter; nothing is kept back for long. */
const longestSequence = 64;

/** For one stream, cut anywhere into pieces. What other sequences say stays to be read, without the power to do it. */
export function createTerminalText(): (piece: string) => string {
  let held = '';
  return (piece) => {
    const text = held + piece;
    held = unfinished.exec(text.slice(-longestSequence))?.[0] ?? '';
    return text
      .slice(0, text.length - held.length)
      .replaceAll(control, (_, colour: string | undefined) => colour ?? '');
  };
}
