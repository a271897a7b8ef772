import { html } from 'hono/html';
import { runSchema } from '../../../api/run-object.ts';
import type { StackObject } from '../../../api/stack-object.ts';
import { problemNotice, radioField, textArea, textField } from '../../components/form-field.ts';
import { type Draft, freshDraft } from '../../draft.ts';
import { formToken, type Markup } from '../../layout.ts';
import type { Form, View } from '../../page-routes.ts';
import { stackPath } from '../../stack-path.ts';

type RunType = 'TRACKED' | 'PROPOSED' | 'TASK' | 'DESTROY';

const untouched = freshDraft({ type: 'TRACKED' });

/**
 * Runs that a person can start. Tasks and tear-downs are shown to administrators. `refused`: what was typed into one of
 * the forms, told by its type; null: nobody sent one.
 */
export function triggerForms(
  stack: StackObject,
  { session }: Pick<View, 'session'>,
  refused: Draft | null,
): Markup | string {
  if (stack.role === 'reader') return '';
  function form(summary: string, types: readonly RunType[], fields: (draft: Draft) => Markup): Markup {
    const isMine = refused !== null && types.some((type) => type === refused.field('type'));
    const draft = isMine ? refused : untouched;
    return html`<details${isMine ? html` open` : ''}><summary>${summary}</summary>
<form method="post" action="${stackPath(stack.account, stack.id)}/runs">${formToken(session)}
${problemNotice(draft)}
${fields(draft)}</form></details>`;
  }
  return html`${form('Trigger run', ['TRACKED', 'PROPOSED'], (draft) => runFields(stack, draft))}
${
  stack.role === 'admin'
    ? html`${form('Run a task', ['TASK'], taskFields)}
${form('Destroy resources', ['DESTROY'], () => destroyFields(stack))}`
    : ''
}`;
}

function runFields({ branch, autodeploy }: StackObject, draft: Draft): Markup {
  const after = autodeploy ? 'applied without asking' : 'applied once somebody confirms';
  const input = (placeholder: string) =>
    html` maxlength="255" autocomplete="off" placeholder="${placeholder}"`;
  return html`${radioField(draft, { name: 'type', label: 'What' }, [
    { value: 'TRACKED', words: `Deploy: plan, then ${after}` },
    { value: 'PROPOSED', words: 'Preview: plan only, nothing is changed' },
  ])}
${textField(draft, { name: 'branch', label: 'Branch', help: `Left empty: ${branch}.`, attributes: input(branch) })}
${textField(draft, {
  ...{ name: 'sha', label: 'Commit', attributes: input('') },
  help: 'Its full hash. Left empty: the newest commit of the branch.',
})}
<button class="primary">Trigger run</button>`;
}

const taskFields = (draft: Draft): Markup => html`<input type="hidden" name="type" value="TASK">
<p>A command in the workspace of the stack, with its environment and secrets. What it changes is not planned and not confirmed.</p>
${textArea(draft, { name: 'command', label: 'Command', attributes: html` maxlength="10000" required` })}
<button>Run task</button>`;

const destroyFields = ({
  name,
}: StackObject): Markup => html`<input type="hidden" name="type" value="DESTROY">
<p>All resources of ${name} are planned for deletion. Nothing is deleted before somebody confirms that plan and types the name of the stack. What is
deleted then cannot be brought back; the stack, its runs and settings stay.</p>
<button class="danger">Plan the tear-down</button>`;

/** What the forms above post: the id of the run. Throws `ApiRefusal`. */
export async function triggerRun({ api, param, field }: Form): Promise<string> {
  const [branch, sha] = [field('branch').trim(), field('sha').trim()];
  const command = field('command');
  const made = await api.send('POST', `/api/v1${stackPath(param('account'), param('stack'))}/runs`, {
    type: field('type'),
    ...(branch === '' ? {} : { branch }),
    ...(sha === '' ? {} : { sha }),
    ...(command === '' ? {} : { command }),
  });
  return runSchema.parse(made).id;
}
