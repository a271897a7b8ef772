import { html } from 'hono/html';
import type { Markup } from '../layout.ts';
import { queryOf } from '../query.ts';

/** Below one page of a list: to the first page, and to the next one. */
export function pager(options: {
  readonly path: string;
  /** What stays the same on the other pages. */
  readonly fields: Readonly<Record<string, string | undefined>>;
  readonly cursor: string | undefined;
  readonly nextCursor: string | null;
  readonly words: { readonly first: string; readonly next: string };
}): Markup | string {
  const { path, fields, cursor, nextCursor, words } = options;
  if (!cursor && nextCursor === null) return '';
  return html`<nav class="pager" aria-label="Pages">
${cursor ? html`<a href="${path}${queryOf(fields)}">${words.first}</a>` : ''}
${nextCursor === null ? '' : html`<a href="${path}${queryOf({ ...fields, cursor: nextCursor })}" rel="next">${words.next}</a>`}
</nav>`;
}
