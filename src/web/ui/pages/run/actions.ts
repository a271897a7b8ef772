import { html } from 'hono/html';
import type { Button } from '../../../../runs/buttons.ts';
import { isTerminal, possibleCommands } from '../../../../runs/run.ts';
import { type RunObject, runSchema } from '../../../api/run-object.ts';
import { formToken, type Markup } from '../../layout.ts';
import type { Form, FormResult, View } from '../../page-routes.ts';
import type { RunFacts } from './run-facts.ts';

export const runVerbs = [
  'confirm',
  'discard',
  'cancel',
  'stop',
  'retry',
] as const satisfies readonly Button[];

interface ShownButton {
  readonly verb: (typeof runVerbs)[number];
  readonly words: string;
  readonly look: '' | 'primary';
}

/** The buttons that the state of the run and the role of who looks allow. */
export function actionsOf({ session }: View, { run, stack }: RunFacts): Markup {
  const shown = stack.role === 'reader' ? [] : buttonsOf(run);
  return html`<div class="actions">${shown.map((each) => buttonForm(run, each, formToken(session)))}</div>`;
}

function buttonsOf(run: RunObject): readonly ShownButton[] {
  if (isTerminal(run.state)) return [{ verb: 'retry', words: 'Run it again', look: '' }];
  const words = {
    confirm: run.type === 'DESTROY' ? 'Confirm and destroy' : 'Confirm and apply',
    discard: 'Discard plan',
    cancel: 'Cancel run',
    stop: 'Stop run',
  };
  return possibleCommands(run).map((verb) => {
    return { verb, words: words[verb], look: verb === 'confirm' ? 'primary' : '' };
  });
}

/** Against the version that is on the page: whoever acts on what has changed is told. */
function buttonForm(
  { id, type, stateVersion, stack }: RunObject,
  button: ShownButton,
  token: Markup,
): Markup {
  const { verb, words, look } = button;
  const asksName = verb === 'confirm' && type === 'DESTROY';
  return html`<form method="post" action="/runs/${id}/${verb}">${token}
<input type="hidden" name="state_version" value="${stateVersion}">
${
  asksName
    ? html`<label for="confirmation">All resources of the stack are destroyed. Type its name, ${stack.name}:</label>
<input id="confirmation" name="confirmation" autocomplete="off" required>`
    : ''
}<button class="${look}">${words}</button></form>`;
}

/** What the buttons post. Throws ApiRefusal, which becomes a page. */
export async function submitRunCommand(
  { api, param, field }: Form,
  verb: ShownButton['verb'],
): Promise<FormResult> {
  const id = encodeURIComponent(param('run'));
  const confirmation = field('confirmation');
  const answer = await api.send('POST', `/api/v1/runs/${id}/${verb}`, {
    stateVersion: Number(field('state_version')),
    ...(verb === 'confirm' && confirmation !== '' ? { confirmation } : {}),
  });
  return { goTo: `/runs/${runSchema.parse(answer).id}` };
}
