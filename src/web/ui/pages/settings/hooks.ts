import { html } from 'hono/html';
import { type HookName, hookNames } from '../../../../stacks/stack.ts';
import { problemNotice, textArea } from '../../components/form-field.ts';
import {
  type Draft,
  type FieldValues,
  fieldValues,
  formRefusal,
  freshDraft,
  lineFeeds,
  refusedDraft,
} from '../../draft.ts';
import type { Tagged } from '../../in-process-api.ts';
import { formToken, type Markup, type Page } from '../../layout.ts';
import type { Form, FormResult, View } from '../../page-routes.ts';
import { etagField, ifMatchOf } from './etag-field.ts';
import { hookCommands, hookText } from './hook-text.ts';
import { apiPathOf, managedNotice, pathOf, type Stack, settingsPage, stackOf } from './settings-frame.ts';

const meanings: Readonly<Record<HookName, { readonly label: string; readonly help: string }>> = {
  beforeInit: {
    label: 'Before init',
    help: 'Once the commit is there and the tool is logged in: the place to install dependencies, e.g. npm ci',
  },
  afterInit: { label: 'After init', help: 'Last of initialization.' },
  beforePlan: { label: 'Before plan', help: 'Before each preview, those of pull requests too.' },
  afterPlan: { label: 'After plan', help: 'When the preview succeeded. A failure here fails the run.' },
  beforeApply: { label: 'Before apply', help: 'After the confirmation, before anything is changed.' },
  afterApply: { label: 'After apply', help: 'When everything was applied.' },
  beforeDestroy: { label: 'Before destroy', help: 'The same for a run that tears down.' },
  afterDestroy: { label: 'After destroy', help: 'When everything was torn down.' },
  beforePerform: { label: 'Before perform', help: 'Before the command of a TASK.' },
  afterPerform: { label: 'After perform', help: 'When that command succeeded.' },
  afterRun: { label: 'After run', help: 'Last of every run, whatever became of it.' },
};

/** The commands that are run around those of the tool. */
export async function hooksPage(view: View): Promise<Page> {
  const stack = await stackOf(view);
  return pageWith(view, stack, { ...freshDraft(), ...valuesOf(stack.value) });
}

const fieldOf = (name: HookName): string => `hooks.${name}`;

const valuesOf = ({ hooks }: Stack): FieldValues =>
  fieldValues(Object.fromEntries(hookNames.map((name) => [fieldOf(name), hookText(hooks[name])])));

function pageWith(view: View, { value: stack, etag }: Tagged<Stack>, draft: Draft): Page {
  const isChangeable = stack.role === 'admin' && stack.managedBy === null;
  const body = html`${managedNotice(stack, view.githubUrl)}${problemNotice(draft)}
<p>Each command is run by <code>bash</code> in the project root, in the sandbox of the run and with its environment, secrets included.
The first that fails ends the phase.</p>
${isChangeable ? formOf(view, etag, draft) : factsOf(stack)}`;
  return settingsPage(stack, 'Hooks', body);
}

function formOf(view: View, etag: string | null, draft: Draft): Markup {
  return html`<p>One command on each line. A command of several lines stands between two lines of backticks:</p>
<pre class="example">npm ci
\`\`\`
if [ -f .env ]; then
  echo "there is one"
fi
\`\`\`</pre>
<form method="post" action="${pathOf(view)}/settings/hooks">${formToken(view.session)}${etagField(etag)}
${hookNames.map((name) =>
  textArea(draft, {
    ...{ name: fieldOf(name), ...meanings[name] },
    rows: Math.min(16, Math.max(3, draft.field(fieldOf(name)).split('\n').length + 1)),
    attributes: html` spellcheck="false" autocapitalize="off"`,
  }),
)}
<button class="primary">Save hooks</button></form>`;
}

function factsOf({ hooks }: Stack): Markup {
  const used = hookNames.filter((name) => hooks[name].length > 0);
  if (used.length === 0) return html`<div class="empty"><p>The stack has no hooks.</p></div>`;
  return html`${used.map(
    (name) => html`<h2>${meanings[name].label}</h2>
<ol>${hooks[name].map((command) => html`<li><pre>${command}</pre></li>`)}</ol>`,
  )}`;
}

/** Only lists that were changed are sent: what a browser cannot show as it is stays as it is. */
export async function saveHooks(form: Form): Promise<FormResult> {
  const stack = await stackOf(form);
  const stored = valuesOf(stack.value);
  const changed = hookNames.filter(
    (name) => lineFeeds(form.field(fieldOf(name))) !== lineFeeds(stored.field(fieldOf(name))),
  );
  const back = { goTo: `${pathOf(form)}/settings/hooks` };
  if (changed.length === 0) return back;
  try {
    const hooks = Object.fromEntries(
      changed.map((name) => [name, hookCommands(form.field(fieldOf(name)), fieldOf(name))]),
    );
    await form.api.send('PATCH', apiPathOf(form), { hooks }, { ifMatch: ifMatchOf(form) });
    return back;
  } catch (error) {
    const { problem, status } = formRefusal(error);
    return { page: pageWith(form, stack, refusedDraft(form, problem, stored)), status };
  }
}
