import { html } from 'hono/html';
import { z } from 'zod';
import { isAttachable } from '../../../../policies/policies.ts';
import { judgedStackSchema } from '../../../api/policy.ts';
import type { Markup } from '../../layout.ts';
import { stackPath } from '../../stack-path.ts';
import { reachOf } from './kind-words.ts';
import type { Policy } from './policy-reads.ts';

export const judgedStacksSchema = z.object({
  items: z.array(judgedStackSchema),
  nextCursor: z.string().nullable(),
});
export type JudgedStacks = z.output<typeof judgedStacksSchema>;

/** Where the policy counts, and how to have it count elsewhere. */
export function judgedStacks({ kind, account }: Policy, { items, nextCursor }: JudgedStacks): Markup {
  if (!isAttachable(kind)) return html`<p>It judges ${reachOf(kind, account)}.</p>`;
  if (items.length === 0) {
    return html`<p>It judges no stack yet. Attach it in the settings of a stack, or give it a label such as <code>autoattach:prod</code>: it then judges all stacks of ${account} that have the label <code>prod</code>.</p>`;
  }
  return html`<ul class="plain">${items.map(
    ({ account: owner, id, by }) =>
      html`<li><a href="${stackPath(owner, id)}">${owner}/${id}</a>${by === 'label' ? html` <span class="small soft">by label</span>` : ''}</li>`,
  )}</ul>${nextCursor === null ? '' : html`<p class="soft">… and more.</p>`}`;
}
