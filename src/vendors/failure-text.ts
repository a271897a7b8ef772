/** What the words for the failures of every tool have in common. */
import { constants } from 'node:os';
import { stripVTControlCharacters } from 'node:util';

/** Check runs and comments have little room; the log has everything. */
export const maxLines = 20;
const maxCharacters = 2000;

export function shorten(text: string): string {
  const lines = text.split('\n');
  const shown = lines.slice(0, maxLines).join('\n').slice(0, maxCharacters);
  return shown.length < text.length ? `${shown}\n…` : shown;
}

export function withoutControls(text: string): string {
  // A sequence that never ends would be looked for to the end of the text, from every place where one begins.
  return stripVTControlCharacters(text.replaceAll('\u001b]', ''));
}

/**
 * Null when no signal ended it. The exit code follows a shell's convention, as the sandbox does: 128 and the number of
 * the signal. `aftermath`: what may be half done after an apply, null after anything else.
 */
export function explainKill(
  program: string,
  exitCode: number,
  aftermath: string | null,
): { readonly message: string; readonly hint: string } | null {
  if (exitCode <= 128 || exitCode > 128 + 64) return null;
  const number = exitCode - 128;
  const signal = Object.entries(constants.signals).find(([, each]) => each === number)?.[0];
  return {
    message: `${program} was killed by ${signal ?? `signal ${number}`}: by something in the run itself, or for want of memory.`,
    hint:
      aftermath ??
      'See that no program or hook kills it and that the server has memory enough, then retry the run.',
  };
}
