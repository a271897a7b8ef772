import type { CliContext } from './context.ts';
import type { Output } from './output.ts';

/**
 * A value that should not be seen: `-` or nothing reads standard input, without its last line break. On the
 * command line other users of the machine can read it, so that is allowed but said.
 */
export async function secretInput(
  context: CliContext,
  output: Output,
  given: string | undefined,
  what: string,
): Promise<string> {
  if (given !== undefined && given !== '-') {
    output.note(`Note: ${what} stood on the command line, where other users and the shell's history see it.`);
    output.note(`      Give - in its place and pipe it in: ... - < file`);
    return given;
  }
  if (context.inputIsTerminal) {
    output.note(`Type ${what} (it is visible), then Enter and Ctrl-D:`);
  }
  return new TextDecoder().decode(await context.readInput()).replace(/\r?\n$/, '');
}
