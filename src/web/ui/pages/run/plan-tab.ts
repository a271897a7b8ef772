import { html } from 'hono/html';
import { z } from 'zod';
import type { RunObject } from '../../../api/run-object.ts';
import type { Markup } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import type { RunFacts } from './run-facts.ts';
import type { TabContent } from './run-frame.ts';

/** As in the specification, §2.3; only what is shown. */
const stepList = z.object({
  items: z.array(z.looseObject({ op: z.string(), urn: z.string(), type: z.string().optional() })),
  nextCursor: z.string().nullable(),
});

/** What the run would change, or changed. */
export async function planTab({ api }: View, { run, apiPath }: RunFacts): Promise<TabContent> {
  return { body: planOf(run, await api.get(`${apiPath}/changes?limit=200`, stepList)) };
}

/** These look at a resource and change nothing. */
const unchanged: ReadonlySet<string> = new Set(['same', 'read', 'refresh']);

function planOf({ delta }: RunObject, { items, nextCursor }: z.output<typeof stepList>): Markup {
  const changes = items.filter(({ op }) => !unchanged.has(op));
  if (delta === undefined) return html`<p class="soft">Nothing is planned yet.</p>`;
  if (changes.length === 0) return html`<p class="soft">Nothing to change.</p>`;
  return html`<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">Change</th><th scope="col">Resource</th></tr></thead>
<tbody>${changes.map(({ op, urn, type }) => html`<tr><td>${op}</td><td><span class="mono">${urn.split('::').at(-1)}</span><div class="small soft mono">${type ?? ''}</div></td></tr>`)}</tbody></table></div>
${nextCursor === null ? '' : html`<p class="soft">These are the first ${items.length} steps. <code>npx slipway run changes</code> shows all.</p>`}`;
}
