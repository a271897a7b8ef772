/** Characters that move text about or are not seen: a name must not look like another one. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;

const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** One line in which everything can be seen; what is longer than `limit` characters is cut and ends in "…". */
export function visible(text: string, limit: number): string {
  const shown = text
    .slice(0, limit)
    .replace(unseen, (each) => escapes[each] ?? `\\u{${each.codePointAt(0)?.toString(16)}}`);
  return shown.length > limit || text.length > limit ? `${shown.slice(0, limit)}…` : shown;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/**
 * For a block of HTML, in which markdown is not read. What is inside `code` makes neither mentions nor links on GitHub.
 */
export function htmlCode(text: string, limit: number): string {
  const escaped = visible(text, limit).replace(/[&<>"]/g, (character) => entities[character] ?? '');
  return `<code>${escaped}</code>`;
}

/** A code block of these lines, which must hold no line ends. Its fence is longer than any that they hold. */
export function fenced(language: string, lines: readonly string[]): string {
  const runs = lines.flatMap((line) => (line.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(Math.max(2, ...runs) + 1);
  return [`${fence}${language}`, ...lines, fence].join('\n');
}

/** For a line of markdown: what is inside makes neither mentions, links nor HTML, and cannot end before its end. */
export function codeSpan(text: string, limit: number): string {
  const shown = visible(text, limit);
  if (shown === '') return '(nothing)';
  const runs = (shown.match(/`+/g) ?? []).map(({ length }) => length);
  const fence = '`'.repeat(Math.max(0, ...runs) + 1);
  // Of a blank at both ends GitHub takes one away; a backtick there would belong to the fence.
  const padding = /^[` ]|[` ]$/.test(shown) ? ' ' : '';
  return `${fence}${padding}${shown}${padding}${fence}`;
}
