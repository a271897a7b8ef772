import { html } from 'hono/html';
import { z } from 'zod';
import { simulationSchema } from '../../../api/policy-object.ts';
import { simulatedRunSchema } from '../../../api/policy-simulations.ts';
import { outcomeBadge } from '../../components/outcome-badge.ts';
import { seconds, whatItSaid } from '../../components/policy-decision.ts';
import { sourceErrors } from '../../components/source-listing.ts';
import { visibleText } from '../../components/visible-text.ts';
import type { Markup } from '../../layout.ts';

type SimulatedRun = z.output<typeof simulatedRunSchema>;

const simulatedRuns = z.object({ items: z.array(simulatedRunSchema) });
const longestResult = 20_000;

/** What the policy says of one input. */
export function simulation(answer: unknown, body: string): Markup {
  const said = simulationSchema.parse(answer);
  const { outcome, failure, result, durationMs } = said;
  const shown = JSON.stringify(result, null, 2);
  return html`<section class="card" aria-labelledby="result"><h2 id="result" class="head">It says ${outcomeBadge(outcome)}</h2>
${failure === undefined ? whatItSaid(said) : sourceErrors(body, [failure])}
${failure === undefined ? html`<pre class="result" tabindex="0" aria-label="Values of its rules">${visibleText(shown.slice(0, longestResult), longestResult)}</pre>` : ''}
${shown.length > longestResult ? html`<p class="soft">… cut: the API gives all of it.</p>` : ''}
<p class="small soft">In ${seconds(durationMs)}.</p></section>`;
}

/** What it would have said of plans that it, or another version of it, has judged. */
export function pastRuns(answer: unknown): Markup {
  const { items } = simulatedRuns.parse(answer);
  if (items.length === 0) {
    return html`<div class="notice" role="status"><p>None of the stacks that it judges has a run whose plan is still kept.</p></div>`;
  }
  const different = items.filter(isDifferent).length;
  return html`<section aria-labelledby="result"><h2 id="result">What would have happened: ${different === 0 ? 'the same decisions' : `${different} of ${items.length} decisions different`}</h2>
<div class="scroll" tabindex="0"><table>
<thead><tr><th scope="col">Run</th><th scope="col">Then</th><th scope="col">Now</th><th scope="col">It says</th></tr></thead>
<tbody>${items.map(row)}</tbody></table></div></section>`;
}

const isDifferent = ({ recorded, outcome }: SimulatedRun): boolean =>
  recorded !== null && recorded !== outcome;

function row(simulated: SimulatedRun): Markup {
  const { run, stack, recorded, outcome } = simulated;
  return html`<tr><td><a href="/runs/${run}">${stack.account}/${stack.id}</a><div class="small soft mono">${run}</div></td>
<td>${recorded === null ? html`<span class="soft">was not asked</span>` : outcomeBadge(recorded)}</td>
<td>${outcomeBadge(outcome)}${isDifferent(simulated) ? html` <strong>changed</strong>` : ''}</td>
<td class="text">${whatItSaid(simulated)}</td></tr>`;
}
