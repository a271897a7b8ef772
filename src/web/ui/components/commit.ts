import { html } from 'hono/html';
import type { Markup } from '../layout.ts';

/** "3f2a91c Widen the network", of the message its first line, which turns nothing around it. */
export function commitLine({ hash, message }: { hash: string; message: string }): Markup {
  return html`<span class="mono">${hash.slice(0, 7)}</span> <bdi>${message.split('\n', 1)[0]}</bdi>`;
}
