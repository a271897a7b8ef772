import { html } from 'hono/html';
import type { Markup } from '../layout.ts';
import { visibleText } from './visible-text.ts';

/** A source may be nothing but line breaks. */
const mostLines = 3000;
const longestLine = 2000;

/** A source with numbers that can be linked to: `#L12`. What would turn text around is seen as what it is. */
export function sourceListing(source: string): Markup {
  const lines = source.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const rest = lines.length - mostLines;
  return html`<div class="source" tabindex="0" role="region" aria-label="Source">${lines
    .slice(0, mostLines)
    .map((text, index) => numbered(index + 1, text))}${
    rest > 0 ? html`<p class="soft">… and ${rest} more lines</p>` : ''
  }</div>`;
}

function numbered(number: number, text: string): Markup {
  return html`<div class="line" id="L${number}"><a href="#L${number}" tabindex="-1">${number}</a><code>${visibleText(text, longestLine)}</code></div>`;
}

interface SourceIssue {
  readonly message: string;
  /** From 1. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/** What the compiler says of a source, each with the line that it is about. Nothing without issues. */
export function sourceErrors(source: string, issues: readonly SourceIssue[]): Markup | string {
  if (issues.length === 0) return '';
  const lines = source.split('\n');
  return html`<ul class="source-errors">${issues.map(({ message, line, column }) => {
    const text = line === undefined ? undefined : lines[line - 1];
    return html`<li><p>${placeOf({ line, column })}${visibleText(message, longestLine)}</p>${
      text === undefined ? '' : html`<pre tabindex="0">${line} │ ${pointedAt(text, column)}</pre>`
    }</li>`;
  })}</ul>`;
}

function placeOf({ line, column }: Omit<SourceIssue, 'message'>): Markup | string {
  if (line === undefined) return '';
  return html`<strong>line ${line}${column === undefined ? '' : `, column ${column}`}:</strong> `;
}

/** Columns count characters from 1. */
function pointedAt(text: string, column: number | undefined): Markup | string {
  if (column === undefined || column < 1 || column > text.length) return visibleText(text, longestLine);
  const at = column - 1;
  return html`${visibleText(text.slice(0, at), longestLine)}<mark>${visibleText(text.slice(at), longestLine)}</mark>`;
}
