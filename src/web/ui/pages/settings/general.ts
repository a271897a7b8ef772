import { html } from 'hono/html';
import { checkField, problemNotice, radioField, textArea, textField } from '../../components/form-field.ts';
import { type Draft, formRefusal, freshDraft, refusedDraft } from '../../draft.ts';
import type { Tagged } from '../../in-process-api.ts';
import { formToken, type Markup, type Page } from '../../layout.ts';
import type { Form, FormResult, View } from '../../page-routes.ts';
import { etagField, ifMatchOf } from './etag-field.ts';
import { generalFacts } from './general-facts.ts';
import { removalForm } from './removal.ts';
import { apiPathOf, managedNotice, pathOf, type Stack, settingsPage, stackOf } from './settings-frame.ts';
import { checksField, deploymentField, type SettingField, settingGroups } from './stack-fields.ts';
import { changesIn, valuesOf } from './stack-form.ts';
import { vendorChoice, vendorsOf } from './vendor-fields.ts';

/** The settings of a stack: a form for its administrators, for everybody else what they are. */
export async function generalPage(view: View): Promise<Page> {
  const stack = await stackOf(view);
  return generalPageWith(view, stack, { ...freshDraft(), ...valuesOf(stack.value) });
}

/** `removal`: what was typed to delete it, and refused. */
export async function generalPageWith(
  view: View,
  { value: stack, etag }: Tagged<Stack>,
  draft: Draft,
  removal: Draft = freshDraft(),
): Promise<Page> {
  const isAdmin = stack.role === 'admin';
  const isChangeable = isAdmin && stack.managedBy === null;
  const vendors = await vendorsOf(view);
  const form =
    () => html`<form method="post" action="${pathOf(view)}/settings">${formToken(view.session)}${etagField(etag)}
${settingGroups.map(({ title, fields }) => html`<h2>${title}</h2>${fields.map((field) => fieldOf(draft, field))}${title === shownWithGithub ? githubFields(draft) : ''}`)}
${vendorChoice(draft, vendors, otherTool)}
<p class="soft">Runs that are under way keep the settings that they began with.</p>
<button class="primary">Save settings</button></form>`;
  const body = html`${managedNotice(stack, view.githubUrl)}${problemNotice(draft)}
${isChangeable ? html`${form()}${removalForm(view, stack, etag, removal)}` : generalFacts(stack, vendors)}`;
  return settingsPage(stack, 'General', body);
}

const otherTool =
  'Another tool knows nothing of what this one has made: what the state lists stays there, and is not taken over.';

const shownWithGithub = settingGroups.at(-1)?.title;

function fieldOf(draft: Draft, { kind, ...options }: SettingField): Markup {
  switch (kind) {
    case 'switch':
      return checkField(draft, options);
    case 'line':
      return textField(draft, options);
    case 'text':
    case 'lines':
      return textArea(draft, options);
  }
}

function githubFields(draft: Draft): Markup {
  const { name, label, choices } = deploymentField;
  return html`${radioField(draft, checksField, checksField.choices)}
${radioField(draft, { name: `${name}.kind`, label }, choices)}
${textField(draft, {
  ...{ name, label: 'Its name' },
  help: 'What is applied becomes a deployment there. Rules of an environment on GitHub do not hold up runs here.',
})}`;
}

export async function saveGeneral(form: Form): Promise<FormResult> {
  const stack = await stackOf(form);
  const back = { goTo: `${pathOf(form)}/settings` };
  const changes = changesIn(form, stack.value, await vendorsOf(form));
  if (Object.keys(changes).length === 0) return back;
  try {
    await form.api.send('PATCH', apiPathOf(form), changes, { ifMatch: ifMatchOf(form) });
    return back;
  } catch (error) {
    const { problem, status } = formRefusal(error);
    const draft = refusedDraft(form, problem, valuesOf(stack.value));
    return { page: await generalPageWith(form, stack, draft), status };
  }
}
