import { html } from 'hono/html';
import type { Delta } from '../../../runs/run.ts';
import type { Markup } from '../layout.ts';

/** "+3 ~2 -1", said in words to who listens. */
export function deltaSigns({ added, changed, deleted }: Omit<Delta, 'resources'>): Markup {
  const words = `${added} added, ${changed} changed, ${deleted} deleted`;
  return html`<span class="delta"><span class="hidden">${words}</span><span aria-hidden="true" title="${words}"><span
class="added">+${added}</span> <span class="changed">~${changed}</span> <span class="deleted">-${deleted}</span></span></span>`;
}
