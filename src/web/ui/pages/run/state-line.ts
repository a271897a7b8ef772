import { html } from 'hono/html';
import { expectedStates } from '../../../../runs/expected-states.ts';
import { clockTime } from '../../components/time.ts';
import type { Markup } from '../../layout.ts';
import type { RunFacts } from './run-facts.ts';

/** Who moves runs without being asked: no news in a line that is about people. */
const machines: ReadonlySet<string> = new Set(['worker', 'server']);

/** Every state so far, with when and by whom, and faintly those to come when all goes well. */
export function stateLine({ run, stack, states }: RunFacts, nowMs: number): Markup {
  const prospect = { autodeploy: stack.autodeploy, isLocked: stack.lock !== null };
  return html`<ol class="state-line" aria-label="States of the run">${states.map(
    ({ state, timestamp, actor }, index) =>
      html`<li${index === states.length - 1 ? html` aria-current="step"` : ''}><span class="state">${state}</span>
<span class="when">${clockTime(timestamp, nowMs)}${machines.has(actor) ? '' : html` <span class="who">${actor}</span>`}</span></li>`,
  )}${expectedStates(run, prospect).map(
    (state) =>
      html`<li class="expected"><span class="state"><span class="hidden">expected: </span>${state}</span></li>`,
  )}</ol>`;
}
