import { html } from 'hono/html';
import { runVerbs } from '../../../../runs/explaining/verbs.ts';
import type { NextStep } from '../../../../runs/explanation.ts';
import { formToken, type Markup } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { stackPath } from '../../stack-path.ts';
import type { RunFacts } from './run-facts.ts';

/** The way out for who has to do more about a failed run than to press one of its buttons. */
export function nextSteps(view: View, facts: RunFacts): Markup | string {
  const { run, explanation } = facts;
  const isWayOut = explanation.next.some(({ action }) => action === 'mend' || action === 'unlock');
  if (run.state !== 'FAILED' || !(isWayOut || explanation.trouble)) return '';
  return html`<section class="notice person" aria-labelledby="next-steps"><h2 id="next-steps">What to do next</h2>
<ol>${explanation.next.map((step) => html`<li>${step.text}${wayTo(view, facts, step)}</li>`)}</ol></section>`;
}

const isVerb = (action: NextStep['action']): boolean => runVerbs.some((verb) => verb === action);

function wayTo(
  view: View,
  facts: RunFacts,
  { action, command }: { action?: NextStep['action'] | undefined; command?: string | undefined },
): Markup | string {
  switch (action) {
    case 'mend':
      return mendForm(view, facts);
    case 'unlock':
      return unlockForm(view, facts);
    default:
      return isVerb(action) || command === undefined ? '' : html` <span class="mono small">${command}</span>`;
  }
}

function mendForm({ session }: View, { run, stack, explanation }: RunFacts): Markup {
  const { command, standing } = explanation.mend ?? {};
  const shown = html`<pre>${command ?? ''}</pre>`;
  if (standing !== 'possible') return shown;
  if (stack.role !== 'admin') {
    return html`${shown}<p class="small soft">An administrator of the stack can start this task.</p>`;
  }
  return html`${shown}<form method="post" action="/runs/${run.id}/mend">${formToken(session)}
<p class="small soft">It runs with commit <span class="mono">${run.commit.hash.slice(0, 7)}</span> and what the stack gives a task. No other run of the stack starts meanwhile.</p>
<button class="danger">Start the task that mends it</button></form>`;
}

function unlockForm({ session }: View, { run, stack }: RunFacts): Markup | string {
  if (stack.role === 'reader') return '';
  return html`<form method="post" action="${stackPath(stack.account, stack.id)}/unlock">${formToken(session)}
<input type="hidden" name="run" value="${run.id}"><button>Unlock stack</button></form>`;
}
