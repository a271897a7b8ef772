import { html } from 'hono/html';
import { z } from 'zod';
import { autoattach } from '../../../../policies/policy.ts';
import { policySchema } from '../../../api/policy-object.ts';
import { attachedSchema } from '../../../api/stack-policies.ts';
import { problemNotice } from '../../components/form-field.ts';
import { type Draft, formRefusal, freshDraft, refusedDraft } from '../../draft.ts';
import { formToken, type Markup, type Page } from '../../layout.ts';
import type { Form, FormResult, View } from '../../page-routes.ts';
import { kindWords } from '../policies/kind-words.ts';
import { policyPath } from '../policies/policy-reads.ts';
import { apiPathOf, pathOf, type Stack, settingsPage, stackOf } from './settings-frame.ts';

type Attached = z.output<typeof attachedSchema>;
type Policy = z.output<typeof policySchema>;

const attachedList = z.object({ items: z.array(attachedSchema) });
const policyPage = z.object({ items: z.array(policySchema), nextCursor: z.string().nullable() });

/** What judges the stack. Its administrators attach and detach. */
export const stackPoliciesPage = (view: View): Promise<Page> => pageWith(view, freshDraft());

async function pageWith(view: View, draft: Draft): Promise<Page> {
  const { value: stack } = await stackOf(view);
  const { items } = await view.api.get(`${apiPathOf(view)}/policies`, attachedList);
  const isAdmin = stack.role === 'admin';
  const body = html`<p class="soft">They decide what the stack may do; what they said stands on each run.</p>${problemNotice(draft)}
${items.length === 0 ? html`<div class="empty"><p>No policy judges this stack: nothing is denied, and nobody has to approve anything.</p></div>` : tableOf(view, stack, items)}
${isAdmin ? await attachForm(view, stack, items, draft) : ''}`;
  return settingsPage(stack, 'Policies', body);
}

function tableOf(view: View, stack: Stack, policies: readonly Attached[]): Markup {
  const isAdmin = stack.role === 'admin';
  return html`<div class="scroll" tabindex="0"><table>
<thead><tr><th scope="col">Policy</th><th scope="col">Kind</th><th scope="col">Version</th><th scope="col">Why it judges the stack</th>${isAdmin ? html`<th scope="col"><span class="hidden">Actions</span></th>` : ''}</tr></thead>
<tbody>${policies.map(
    (policy) => html`<tr>
<td class="text"><a href="${policyPath(policy.id)}">${policy.name}</a>${policy.description === '' ? '' : html`<div class="small soft">${policy.description}</div>`}</td>
<td>${policy.kind}</td><td>${policy.version}</td>
<td>${policy.by === 'attachment' ? 'attached' : labelWords(policy, stack)}</td>
${isAdmin ? html`<td>${policy.by === 'attachment' ? detachForm(view, policy) : ''}</td>` : ''}</tr>`,
  )}</tbody></table></div>`;
}

/** Which label of the policy it is. */
function labelWords({ labels }: Attached, stack: Stack): Markup {
  const wanted = labels.filter((label) => label.startsWith(autoattach));
  const fitting = wanted.find((label) => stack.labels.includes(label.slice(autoattach.length)));
  if (fitting === undefined)
    return html`by its label <code>${autoattach}*</code>, as all stacks of ${stack.account}`;
  return html`by its label <code>${fitting}</code>`;
}

function detachForm(view: View, { id, name, kind }: Attached): Markup {
  return html`<details><summary>Detach<span class="hidden"> ${name}</span></summary>
<p>It judges nothing of this stack from then on. ${kind === 'APPROVAL' ? 'Runs that wait for it are judged anew by what is left.' : 'Runs that were judged already stay as they are.'}</p>
<form method="post" action="${pathOf(view)}/settings/policies/detach">${formToken(view.session)}<input type="hidden" name="policy" value="${id}">
<button class="danger">Detach ${name}</button></form></details>`;
}

async function attachForm(
  view: View,
  { account }: Stack,
  attached: readonly Attached[],
  draft: Draft,
): Promise<Markup> {
  const { items, nextCursor } = await view.api.get(
    `${apiPathOf(view)}/attachable-policies?limit=200`,
    policyPage,
  );
  // One that judges by a label can be attached, too: it then stays when the label goes.
  const direct = new Set(attached.filter(({ by }) => by === 'attachment').map(({ id }) => id));
  const offered = items.filter(({ id }) => !direct.has(id));
  if (offered.length === 0 && nextCursor === null) {
    return html`<p class="soft">${account} has no ${items.length === 0 ? '' : 'other '}policy that could be attached. Administrators of the server make them.</p>`;
  }
  return html`<h2>Attach a policy</h2>
<form method="post" action="${pathOf(view)}/settings/policies">${formToken(view.session)}
<div class="field"><label for="policy">Policy of ${account}</label>
<select id="policy" name="policy" required><option value="">choose one</option>${offered.map((policy) => option(policy, draft.field('policy')))}</select>
<p class="help">It judges the stack from its next run on; what waits for approval is judged anew.${nextCursor === null ? '' : ' Not all are offered here: the API attaches the others.'}</p></div>
<button class="primary">Attach policy</button></form>`;
}

const option = ({ id, name, kind }: Policy, chosen: string): Markup =>
  html`<option value="${id}"${id === chosen ? html` selected` : ''} title="${kindWords[kind]}">${name} (${kind})</option>`;

export const attachPolicy = (form: Form): Promise<FormResult> => change(form, 'PUT');
export const detachPolicy = (form: Form): Promise<FormResult> => change(form, 'DELETE');

async function change(form: Form, method: 'PUT' | 'DELETE'): Promise<FormResult> {
  const back = { goTo: `${pathOf(form)}/settings/policies` };
  const id = form.field('policy');
  if (id === '') return back;
  try {
    await form.api.send(method, `${apiPathOf(form)}/policies/${encodeURIComponent(id)}`);
    return back;
  } catch (error) {
    const { problem, status } = formRefusal(error);
    return { page: await pageWith(form, refusedDraft(form, problem)), status };
  }
}
