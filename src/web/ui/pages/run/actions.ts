import { html } from 'hono/html';
import { consequenceOf } from '../../../../runs/explaining/consequences.ts';
import { type RunVerb, verbsFor, wordsOf } from '../../../../runs/explaining/verbs.ts';
import { stateBadge } from '../../components/state-badge.ts';
import { timeAgo } from '../../components/time.ts';
import { formToken, type Markup } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { lostResources } from './lost-resources.ts';
import type { RefusedCommand, RunFacts } from './run-facts.ts';

/** What the state of the run and the role of who looks allow; each says what follows before it is done. */
export async function actionsOf(view: View, facts: RunFacts) {
  const { run, stack, refused } = facts;
  const verbs = stack.role === 'reader' ? [] : verbsFor(run);
  const lost = verbs.includes('confirm') ? await lostResources(view, facts) : '';
  return html`${refused?.lookedAt === undefined ? '' : changedMeanwhile(view, facts, refused)}
<div class="actions">${verbs.map((verb) => panel(view, facts, verb, lost))}${verbs.includes('approve') ? notYet(run) : ''}</div>`;
}

/** What will be possible once the gate is open; the notice below says what it waits for. */
function notYet(run: RunFacts['run']): Markup | string {
  if (run.state !== 'UNCONFIRMED') return '';
  return html`<button type="button" disabled aria-describedby="run-blocked">${wordsOf('confirm', run)}</button>`;
}

/** A button that opens what it means, with the button that does it. */
function panel({ session }: View, facts: RunFacts, verb: RunVerb, lost: Markup | string): Markup {
  const { run, refused } = facts;
  const words = wordsOf(verb, run);
  const mine = refused?.verb === verb ? refused : null;
  const isConfirm = verb === 'confirm';
  const look = isConfirm ? (run.type === 'DESTROY' ? 'danger' : 'primary') : '';
  // Against the version that is on the page: whoever acts on what has changed is told.
  return html`<details class="act" name="act"${mine?.wrongConfirmation === undefined ? '' : html` open`}><summary class="button ${look}">${words}</summary>
<form class="panel" method="post" action="/runs/${run.id}/${verb}">${formToken(session)}
<input type="hidden" name="state_version" value="${run.stateVersion}">
<p>${consequenceOf(verb, facts)}</p>
${isConfirm ? lost : ''}${isConfirm && run.type === 'DESTROY' ? nameField(run.stack.name, mine) : ''}${takesNote(verb) ? noteField(verb, mine) : ''}
<button class="${look}">${words}</button></form></details>`;
}

const takesNote = (verb: RunVerb): boolean => verb !== 'retry' && verb !== 'prioritize';

function noteField(verb: RunVerb, mine: RefusedCommand | null): Markup {
  return html`<div class="field"><label for="note-${verb}">Note</label>
<input id="note-${verb}" name="note" maxlength="1000" autocomplete="off" value="${mine?.note ?? ''}" aria-describedby="note-${verb}-help">
<p class="help" id="note-${verb}-help">Optional. It stands beside the state of the run.</p></div>`;
}

function nameField(stackName: string, mine: RefusedCommand | null): Markup {
  const wrong = mine?.wrongConfirmation;
  return html`<div class="field"><label for="confirmation">Type the name of the stack, ${stackName}</label>
<input id="confirmation" name="confirmation" autocomplete="off" required value="${mine?.confirmation ?? ''}"${
    wrong === undefined ? '' : html` aria-invalid="true" aria-describedby="confirmation-wrong"`
  }>
${wrong === undefined ? '' : html`<p class="wrong" id="confirmation-wrong">${wrong}</p>`}</div>`;
}

/** Somebody was faster: what they did, and what was not done. */
function changedMeanwhile(
  { nowMs }: View,
  { run, states }: RunFacts,
  { verb, note, lookedAt }: RefusedCommand,
): Markup {
  const since = states.filter(({ stateVersion }) => stateVersion > (lookedAt ?? 0));
  return html`<div class="notice person meanwhile" role="alert"><p><b>The run has changed since you looked at it.</b> “${wordsOf(verb, run)}” was not done.</p>
<ul>${since.map(
    (each) =>
      html`<li>${stateBadge(each.state)} by ${each.actor}, ${timeAgo(each.timestamp, nowMs)}${each.note === undefined ? '' : html`: ${each.note}`}</li>`,
  )}</ul>
${note === '' ? '' : html`<p class="soft">Your note was: ${note}</p>`}</div>`;
}
