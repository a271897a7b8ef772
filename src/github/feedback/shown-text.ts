import { visible } from '../../runs/plan/visible-text.ts';

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
