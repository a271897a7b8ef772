import { html } from 'hono/html';
import { z } from 'zod';
import { stackSchema } from '../../api/stack-object.ts';
import { webhookSchema, webhookSummarySchema } from '../../api/webhook-object.ts';
import { ApiRefusal } from '../in-process-api.ts';
import { formToken, type Markup, type Page } from '../layout.ts';
import type { Form, FormResult, View } from '../page-routes.ts';
import { stackPath } from '../stack-path.ts';

type Stack = z.output<typeof stackSchema>;
type Webhook = z.output<typeof webhookSummarySchema>;

const webhookList = z.object({ items: z.array(webhookSummarySchema), nextCursor: z.string().nullable() });

/** What was typed, and what is wrong with it. */
interface Draft {
  readonly endpoint: string;
  readonly problem: ApiRefusal | null;
}
const nothingTyped: Draft = { endpoint: '', problem: null };

export const stackPathOf = ({ param }: Pick<View, 'param'>): string =>
  stackPath(param('account'), param('stack'));

/** The webhooks of a stack. Everybody who reads the stack sees them, its administrators change them. */
export const integrationsPage = (view: View): Promise<Page> => pageWith(view, nothingTyped);

async function pageWith(view: View, draft: Draft): Promise<Page> {
  const path = stackPathOf(view);
  const stack = await view.api.get(`/api/v1${path}`, stackSchema);
  const { items } = await view.api.get(`/api/v1${path}/webhooks?limit=200`, webhookList);
  const isAdmin = stack.role === 'admin';
  const body = html`<p class="crumbs"><a href="/">Stacks</a> / <a href="${path}">${stack.name}</a> / Integrations</p>
<h1>Webhooks</h1>
<p class="soft">Each is told of every change of a run's state, signed with its secret.</p>
${items.length === 0 ? noWebhooks(isAdmin) : tableOf(items, path)}
${isAdmin ? addForm(path, draft, formToken(view.session)) : ''}`;
  return { title: `Webhooks of ${stack.name}`, section: 'stacks', body };
}

function tableOf(webhooks: readonly Webhook[], path: string): Markup {
  return html`<div class="scroll" tabindex="0"><table>
<thead><tr><th scope="col">Endpoint</th><th scope="col">State</th></tr></thead>
<tbody>${webhooks.map(
    (webhook) => html`<tr>
<td><a href="${path}/settings/integrations/${webhook.id}"><span class="mono">${webhook.endpoint}</span></a></td>
<td>${webhookState(webhook)}</td></tr>`,
  )}</tbody></table></div>`;
}

export function webhookState({ enabled, health, disabledReason }: Webhook): Markup {
  if (!enabled) return html`disabled${disabledReason === undefined ? '' : html`: ${disabledReason}`}`;
  if (health?.failingSince === undefined) return html`enabled`;
  return html`enabled, failing${health.lastError === undefined ? '' : html`: ${health.lastError}`}`;
}

const noWebhooks = (
  isAdmin: boolean,
): Markup => html`<div class="empty"><p>Nothing is told of this stack yet.</p>
<p>${isAdmin ? 'Add a webhook below.' : 'An administrator of the repository can add a webhook.'}</p></div>`;

function addForm(path: string, { endpoint, problem }: Draft, token: Markup): Markup {
  const about = (field: string) => problem?.fields.filter(({ path: at }) => at === field) ?? [];
  const wrong = about('endpoint');
  const isOpen = problem !== null;
  return html`<h2>Add webhook</h2>
${isOpen ? html`<div class="notice bad" role="alert"><p>${problem.message}</p>${problem.hint === undefined ? '' : html`<p>${problem.hint}</p>`}</div>` : ''}
<form method="post" action="${path}/settings/integrations">${token}
<div class="field"><label for="endpoint">Endpoint</label>
<input id="endpoint" name="endpoint" type="url" required maxlength="2048" placeholder="https://hooks.example.com/slipway" value="${endpoint}"${wrong.length > 0 ? html` aria-invalid="true" aria-describedby="endpoint-wrong"` : ''}>
${wrong.length > 0 ? html`<p class="wrong" id="endpoint-wrong">${wrong.map(({ message }) => message).join('; ')}</p>` : ''}</div>
<div class="field"><label for="secret">Secret</label>
<input id="secret" name="secret" type="password" maxlength="1024" autocomplete="off" aria-describedby="secret-help">
<p class="help" id="secret-help">What the receiver checks signatures with. Left empty, a random one is made.</p></div>
<div class="field"><label class="check"><input type="checkbox" name="enabled" value="yes" checked> Enabled</label></div>
<button class="primary">Add webhook</button></form>`;
}

/** The form above. What was typed is there again when it is refused, but for the secret. */
export async function addWebhook(form: Form): Promise<FormResult> {
  const path = stackPathOf(form);
  const [endpoint, secret] = [form.field('endpoint').trim(), form.field('secret')];
  try {
    const made = await form.api.send('POST', `/api/v1${path}/webhooks`, {
      ...{ endpoint, enabled: form.field('enabled') === 'yes' },
      ...(secret === '' ? { generateSecret: true } : { secret }),
    });
    return { goTo: `${path}/settings/integrations/${webhookSchema.parse(made).id}` };
  } catch (error) {
    if (!(error instanceof ApiRefusal) || (error.status !== 409 && error.status !== 422)) throw error;
    return { page: await pageWith(form, { endpoint, problem: error }), status: error.status };
  }
}

/** For pages below it. */
export async function stackOf(view: View): Promise<{ readonly stack: Stack; readonly path: string }> {
  const path = stackPathOf(view);
  return { stack: await view.api.get(`/api/v1${path}`, stackSchema), path };
}
