import { html } from 'hono/html';
import type { Markup } from '../layout.ts';

/** Of a longer one the rest is on the details of the run: a list has a line for it. */
const longest = 120;

/** "3f2a91c Widen the network", of the message its first line, which turns nothing around it. */
export function commitLine({ hash, message }: { hash: string; message: string }): Markup {
  const [subject = ''] = message.split('\n', 1);
  const shown = subject.length > longest ? `${subject.slice(0, longest)}…` : subject;
  return html`<span class="mono">${hash.slice(0, 7)}</span> <bdi>${shown}</bdi>`;
}
