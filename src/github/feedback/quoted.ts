const maxLength = 2000;

/** As a code block: the text may hold what a program or a file of the repository says. */
export function quoted(text: string, limit = maxLength): string {
  const shown = text.length > limit ? `${text.slice(0, limit)}…` : text;
  const longestFence = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longestFence + 1);
  return `${fence}text\n${shown}\n${fence}`;
}
