import { html } from 'hono/html';
import { z } from 'zod';
import { checkVariable } from '../../../../stacks/environment.ts';
import { variableSchema } from '../../../api/environment.ts';
import { formRefusal, freshDraft, lineFeeds, refusedDraft } from '../../draft.ts';
import type { Markup, Page } from '../../layout.ts';
import type { Form, FormResult, View } from '../../page-routes.ts';
import { apiPathOf, managedNotice, pathOf, type Stack, settingsPage, stackOf } from './settings-frame.ts';
import { accesses, type Variable, variableForm, variableRemoval } from './variable-form.ts';

const variableList = z.object({ items: z.array(variableSchema) });

/** The variables of a stack. `?variable=` is the one that is changed. */
export async function environmentPage(view: View): Promise<Page> {
  const { value: stack } = await stackOf(view);
  const variables = await variablesOf(view);
  const chosen = variables.find(({ name }) => name === view.query('variable'));
  if (!chosen || !isChangeable(stack, chosen)) return pageWith(view, stack, variables, newForm(view, stack));
  const { name, secret, access, value = '' } = chosen;
  const draft = freshDraft({ name, access, value, secret: secret ? 'yes' : '' });
  const forms = html`${variableForm(view, draft, chosen)}${variableRemoval(view, chosen)}`;
  return pageWith(view, stack, variables, forms);
}

const variablesOf = async (view: View): Promise<readonly Variable[]> =>
  (await view.api.get(`${apiPathOf(view)}/environment`, variableList)).items;

const isChangeable = ({ role }: Stack, { managedBy }: Variable): boolean =>
  role === 'admin' && managedBy === undefined;

const newForm = (view: View, { role }: Stack): Markup | string =>
  role === 'admin' ? variableForm(view, freshDraft({ access: 'all', secret: 'yes' }), null) : '';

function pageWith(view: View, stack: Stack, variables: readonly Variable[], forms: Markup | string): Page {
  const isOfFile = variables.some(({ managedBy }) => managedBy !== undefined);
  const body = html`<p>Every command of a run sees them, hooks included; runs of forks and of bots that are not trusted see no secret.
Secrets are kept encrypted, never shown again, and <code>***</code> stands for them in what a run prints.</p>
${isOfFile ? managedNotice(stack, view.githubUrl) : ''}
${variables.length === 0 ? html`<div class="empty"><p>No variables yet.</p></div>` : tableOf(view, stack, variables)}
${forms}`;
  return settingsPage(stack, 'Environment', body);
}

function tableOf(view: View, stack: Stack, variables: readonly Variable[]): Markup {
  const here = `${pathOf(view)}/settings/environment`;
  const isAdmin = stack.role === 'admin';
  return html`<div class="scroll" tabindex="0"><table>
<thead><tr><th scope="col">Name</th><th scope="col">Value</th><th scope="col">Seen by</th>${isAdmin ? html`<th scope="col"><span class="hidden">Actions</span></th>` : ''}</tr></thead>
<tbody>${variables.map(
    (variable) => html`<tr id="${variable.name}">
<td class="mono">${variable.name}</td>
<td>${shownValue(variable)}</td>
<td>${accesses.find(({ value }) => value === variable.access)?.words ?? variable.access}</td>
${isAdmin ? html`<td>${wayToChange(here, variable)}</td>` : ''}</tr>`,
  )}</tbody></table></div>`;
}

function shownValue({ secret, value = '' }: Variable): Markup {
  if (secret) return html`<span class="soft">secret</span>`;
  return value === '' ? html`<span class="soft">empty</span>` : html`<pre class="value">${value}</pre>`;
}

function wayToChange(here: string, { name, managedBy }: Variable): Markup {
  if (managedBy === 'file') return html`<span class="soft">set by the file</span>`;
  return html`<a href="${here}?variable=${encodeURIComponent(name)}#variable">Change<span class="hidden"> ${name}</span></a>`;
}

/** Adds a variable or gives one another value. What was typed stays when it is refused, a secret does not. */
export async function saveVariable(form: Form): Promise<FormResult> {
  const name = form.field('name').trim();
  const access = z.enum(['all', 'tracked', 'apply']).catch('all').parse(form.field('access'));
  const input = { value: lineFeeds(form.field('value')), secret: form.field('secret') === 'yes', access };
  try {
    // A name that no address can hold never gets to the API.
    checkVariable({ name, ...input }, () => false);
    await form.api.send('PUT', variablePath(form, name), input);
    return { goTo: `${pathOf(form)}/settings/environment#${name}` };
  } catch (error) {
    const { problem, status } = formRefusal(error);
    const { value: stack } = await stackOf(form);
    const variables = await variablesOf(form);
    const changed = form.field('change') === 'yes' ? variables.find((each) => each.name === name) : undefined;
    const forms = variableForm(form, refusedDraft(form, problem), changed ?? null);
    return { page: pageWith(form, stack, variables, forms), status };
  }
}

export async function removeVariable(form: Form): Promise<FormResult> {
  await form.api.send('DELETE', variablePath(form, form.field('name')));
  return { goTo: `${pathOf(form)}/settings/environment` };
}

const variablePath = (form: Form, name: string): string =>
  `${apiPathOf(form)}/environment/${encodeURIComponent(name)}`;
