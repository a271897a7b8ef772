import { html } from 'hono/html';
import type { DiffLine } from '../../../runs/plan/line-diff.ts';
import type { Markup } from '../layout.ts';
import { visibleText } from './visible-text.ts';

const signs = { same: ' ', removed: '-', added: '+', gap: '⋯' } as const;

/** How two texts differ, line by line. Its style is diff.css. */
export function lineChanges(lines: readonly DiffLine[], longestLine: number): Markup {
  // Without a break between them: in a block of code each would be seen.
  return html`<pre class="lines" tabindex="0">${lines.map(
    ({ kind, text }) => html`<span class="${kind}">${signs[kind]} ${visibleText(text, longestLine)}
</span>`,
  )}</pre>`;
}
