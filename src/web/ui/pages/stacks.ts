import { html } from 'hono/html';
import { z } from 'zod';
import { stackSchema } from '../../api/stack-object.ts';
import { stateBadge } from '../components/state-badge.ts';
import type { Markup, Page } from '../layout.ts';
import type { View } from '../page-routes.ts';
import { stackPath } from '../stack-path.ts';

type Stack = z.output<typeof stackSchema>;

const stackPage = z.object({ items: z.array(stackSchema), nextCursor: z.string().nullable() });

/** What needs a person first, then what failed, then the rest in the order of their making. */
const urgency = ({ state }: Stack): number => {
  if (state === 'UNCONFIRMED' || state === 'PENDING_REVIEW') return 0;
  return state === 'FAILED' ? 1 : 2;
};

/** All stacks that the person may see. */
export async function stacksPage({ api, query }: View): Promise<Page> {
  const cursor = query('cursor') ?? '';
  const { items, nextCursor } = await api.get(
    `/api/v1/stacks?limit=100&cursor=${encodeURIComponent(cursor)}`,
    stackPage,
  );
  const body = html`<h1>Stacks</h1>
${items.length === 0 && cursor === '' ? noStacks : tableOf(items)}
${nextCursor === null ? '' : html`<p><a href="/?cursor=${encodeURIComponent(nextCursor)}">More stacks</a></p>`}`;
  return { title: 'Stacks', section: 'stacks', body };
}

function tableOf(stacks: readonly Stack[]): Markup {
  const rows = stacks.toSorted((a, b) => urgency(a) - urgency(b));
  return html`<div class="scroll" tabindex="0"><table>
<thead><tr><th scope="col">Stack</th><th scope="col">State</th><th scope="col">Repository</th><th scope="col">Branch</th></tr></thead>
<tbody>${rows.map(rowOf)}</tbody>
</table></div>`;
}

function rowOf(stack: Stack): Markup {
  const { account, id, name, description, repository, branch, projectRoot, lock } = stack;
  return html`<tr>
<td><a href="${stackPath(account, id)}">${name}</a>${description === '' ? '' : html`<div class="small soft">${description}</div>`}</td>
<td>${stateBadge(stack.state)}${lock === null ? '' : html` <span class="small soft">locked by ${lock.holder}</span>`}</td>
<td>${repository}${projectRoot === '' ? '' : html`<div class="small soft mono">${projectRoot}</div>`}</td>
<td class="mono">${branch}</td>
</tr>`;
}

const noStacks = html`<div class="empty">
<p>There is no stack that you may see.</p>
<p>A stack is a directory of a repository with the tool it is run with. An administrator of the repository makes one:</p>
<p><code>npx slipway stack create "Network Prod" --repository acme/infra --project-root network --login-url s3://acme-state --stack-name prod</code></p>
<p>or writes it into <code>.github/slipway.yml</code> on the default branch of the repository.</p>
</div>`;
