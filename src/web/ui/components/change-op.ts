import { html } from 'hono/html';
import type { ChangeOp } from '../../../runs/plan/plan-changes.ts';
import type { Markup } from '../layout.ts';

const icons: Readonly<Record<ChangeOp, string>> = {
  create: '+',
  update: '~',
  replace: '±',
  delete: '−',
  move: '↷',
  outputs: '→',
};

/** What a plan does to a resource, as icon and word. */
export function changeOp(op: ChangeOp): Markup {
  return html`<span class="op ${op}"><span class="icon" aria-hidden="true">${icons[op]}</span> ${op}</span>`;
}
