import { html } from 'hono/html';
import { runSchema } from '../../../api/run-object.ts';
import type { StackObject } from '../../../api/stack-object.ts';
import { ApiRefusal } from '../../in-process-api.ts';
import { formToken, type Markup } from '../../layout.ts';
import type { Form, View } from '../../page-routes.ts';
import { stackPath } from '../../stack-path.ts';

/** What was typed, and what is wrong with it. */
export interface TriggerDraft {
  readonly type: string;
  readonly branch: string;
  readonly sha: string;
  readonly command: string;
  readonly problem: ApiRefusal;
}

/** Runs that a person can start. Tasks and tear-downs are shown to administrators. */
export function triggerForms(
  stack: StackObject,
  { session }: Pick<View, 'session'>,
  draft: TriggerDraft | null,
): Markup | string {
  if (stack.role === 'reader') return '';
  const form = (types: readonly string[], content: Markup) => {
    const mine = draft !== null && types.includes(draft.type) ? draft : null;
    return html`<form method="post" action="${stackPath(stack.account, stack.id)}/runs">${formToken(session)}
${mine ? html`<div class="notice bad" role="alert"><p>${mine.problem.message}</p>${mine.problem.hint === undefined ? '' : html`<p>${mine.problem.hint}</p>`}</div>` : ''}
${content}</form>`;
  };
  const openIf = (...types: readonly string[]) => (draft && types.includes(draft.type) ? html` open` : '');
  return html`<details${openIf('TRACKED', 'PROPOSED')}><summary>Trigger run</summary>${form(['TRACKED', 'PROPOSED'], runFields(stack, draft))}</details>
${
  stack.role === 'admin'
    ? html`<details${openIf('TASK')}><summary>Run a task</summary>${form(['TASK'], taskFields(draft))}</details>
<details${openIf('DESTROY')}><summary>Destroy resources</summary>${form(['DESTROY'], destroyFields(stack))}</details>`
    : ''
}`;
}

function runFields({ branch, autodeploy }: StackObject, draft: TriggerDraft | null): Markup {
  const isPreview = draft?.type === 'PROPOSED';
  const after = autodeploy ? 'applied without asking' : 'applied once somebody confirms';
  return html`<fieldset><legend>What</legend>
<label class="check"><input type="radio" name="type" value="TRACKED"${isPreview ? '' : html` checked`}> Deploy: plan, then ${after}</label>
<label class="check"><input type="radio" name="type" value="PROPOSED"${isPreview ? html` checked` : ''}> Preview: plan only, nothing is changed</label></fieldset>
${field({ name: 'branch', words: 'Branch', placeholder: branch, help: `Left empty: ${branch}.` }, draft)}
${field({ name: 'sha', words: 'Commit', placeholder: '', help: 'Its full hash. Left empty: the newest commit of the branch.' }, draft)}
<button class="primary">Trigger run</button>`;
}

function taskFields(draft: TriggerDraft | null): Markup {
  const wrong = wrongsOf('command', draft);
  return html`<input type="hidden" name="type" value="TASK">
<p>A command in the workspace of the stack, with its environment and secrets. What it changes is not planned and not confirmed.</p>
<div class="field"><label for="command">Command</label>
<textarea id="command" name="command" maxlength="10000" required${describedBy('command', wrong)}>${draft?.type === 'TASK' ? draft.command : ''}</textarea>${wrongText('command', wrong)}</div>
<button>Run task</button>`;
}

function destroyFields({ name }: StackObject): Markup {
  return html`<input type="hidden" name="type" value="DESTROY">
<p>All resources of ${name} are planned for deletion. Nothing is deleted before somebody confirms that plan and types the name of the stack. What is
deleted then cannot be brought back; the stack, its runs and settings stay.</p>
<button class="danger">Plan the tear-down</button>`;
}

function field(
  {
    name,
    words,
    placeholder,
    help,
  }: { name: 'branch' | 'sha'; words: string; placeholder: string; help: string },
  draft: TriggerDraft | null,
): Markup {
  const wrong = wrongsOf(name, draft);
  return html`<div class="field"><label for="run-${name}">${words}</label>
<input id="run-${name}" name="${name}" maxlength="255" autocomplete="off" placeholder="${placeholder}" value="${draft?.[name] ?? ''}"${wrong.length > 0 ? describedBy(name, wrong) : html` aria-describedby="${name}-help"`}>
${wrongText(name, wrong)}<p class="help" id="${name}-help">${help}</p></div>`;
}

const wrongsOf = (name: string, draft: TriggerDraft | null): readonly string[] =>
  draft?.problem.issues.filter(({ path }) => path === name).map(({ message }) => message) ?? [];

const describedBy = (name: string, wrong: readonly string[]): Markup | string =>
  wrong.length === 0 ? '' : html` aria-invalid="true" aria-describedby="${name}-wrong"`;

const wrongText = (name: string, wrong: readonly string[]): Markup | string =>
  wrong.length === 0 ? '' : html`<p class="wrong" id="${name}-wrong">${wrong.join('; ')}</p>`;

/** What the forms above post: the id of the run, or the draft that was refused. */
export async function triggerRun(form: Form): Promise<{ readonly run: string } | TriggerDraft> {
  const path = stackPath(form.param('account'), form.param('stack'));
  const [type, branch, sha] = ['type', 'branch', 'sha'].map((name) => form.field(name).trim()) as [
    string,
    string,
    string,
  ];
  const command = form.field('command');
  try {
    const made = await form.api.send('POST', `/api/v1${path}/runs`, {
      type,
      ...(branch === '' ? {} : { branch }),
      ...(sha === '' ? {} : { sha }),
      ...(command === '' ? {} : { command }),
    });
    return { run: runSchema.parse(made).id };
  } catch (error) {
    if (!(error instanceof ApiRefusal) || error.status !== 422) throw error;
    return { type, branch, sha, command, problem: error };
  }
}
