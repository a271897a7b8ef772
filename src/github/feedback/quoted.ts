import { fenced } from './shown-text.ts';

const maxLength = 2000;

/** As a code block: the text may hold what a program or a file of the repository says. */
export function quoted(text: string, limit = maxLength): string {
  const shown = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return fenced('text', shown.split('\n'));
}
