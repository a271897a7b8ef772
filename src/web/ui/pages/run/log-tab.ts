import { html } from 'hono/html';
import { z } from 'zod';
import { isTerminal } from '../../../../runs/run.ts';
import { phases } from '../../../../runs/run-store.ts';
import { phaseEndSchema } from '../../../api/run-logs.ts';
import type { RunObject } from '../../../api/run-object.ts';
import { commandSchema } from '../../../api/runs.ts';
import type { Markup } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { phaseLines } from './log-markup.ts';
import type { RunFacts } from './run-facts.ts';
import type { TabContent } from './run-frame.ts';

type PhaseEnd = z.output<typeof phaseEndSchema>;
type Command = z.output<typeof commandSchema>;

const phaseEnds = z.object({ items: z.array(phaseEndSchema) });
const commandList = z.object({ items: z.array(commandSchema) });

/** The end says what went wrong; the whole of a long log is a link away, and a script loads it on demand. */
const shownBytes = 50_000;

/** The output of the run's commands. */
export async function logTab({ api }: View, { run, apiPath }: RunFacts): Promise<TabContent> {
  if (run.logRemoved) return { body: html`<p class="soft">The log was removed for its age.</p>` };
  const [ends, commands] = await Promise.all([
    api.get(`${apiPath}/logs/end?maxBytes=${shownBytes}`, phaseEnds),
    api.get(`${apiPath}/commands`, commandList),
  ]);
  const body = html`${toolbar(run)}
<div id="log" data-run="${run.id}" data-after="${positionOf(ends.items)}"${isTerminal(run.state) ? html` data-over` : ''}>
${ends.items.length === 0 ? html`<p class="soft" id="log-empty">${emptyText(run)}</p>` : ''}
${ends.items.map((end) => phaseMarkup(run, end, commands.items))}
</div>
<button type="button" id="log-newest" hidden>Jump to newest</button>`;
  return { body, styles: ['log.css'], scripts: ['log.js'] };
}

const emptyText = ({ state }: RunObject): string =>
  isTerminal(state) ? 'The run ended without output.' : 'There is no output yet; it appears here by itself.';

/** Searching needs the script, which shows it. */
function toolbar({ id }: RunObject): Markup {
  return html`<div class="log-bar">
<form id="log-search" role="search" hidden>
<label class="hidden" for="log-query">Search in the log</label>
<input type="search" id="log-query" placeholder="Search (press /)" autocomplete="off" spellcheck="false">
<button type="button" id="log-previous">Previous</button><button type="button" id="log-next">Next</button>
<span id="log-found" role="status"></span>
</form>
<a class="button" href="/api/v1/runs/${id}/logs" download="${id}.log">Download log</a>
</div>`;
}

function phaseMarkup({ id }: RunObject, end: PhaseEnd, commands: readonly Command[]): Markup {
  const { phase, size, offset, line, text } = end;
  const path = `/api/v1/runs/${id}/logs?phase=${phase}`;
  return html`<details class="phase" id="log-${phase}" data-phase="${phase}" data-offset="${offset}" data-size="${size}" data-line="${line}"${text === '' ? '' : html` open`}>
<summary><h2>${phase}</h2> <span class="soft small">${summaryOf(commands.filter((each) => each.phase === phase))}</span></summary>
${offset === 0 ? '' : html`<p class="earlier small"><span>${line - 1} earlier ${line === 2 ? 'line' : 'lines'}: </span><a href="${path}">all of this phase</a></p>`}
<div class="log-lines" tabindex="0" role="group" aria-label="Output of ${phase}">${phaseLines(phase, text, line)}</div>
</details>`;
}

function summaryOf(commands: readonly Command[]): string {
  if (commands.length === 0) return '';
  const seconds = commands.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000;
  const count = commands.length === 1 ? '1 command' : `${commands.length} commands`;
  return `${count}, ${seconds.toFixed(1)} s`;
}

/** Where a stream goes on that shows everything that is shown here once more: scripts make their own of it. */
function positionOf(ends: readonly PhaseEnd[]): string {
  const offsets = new Map(ends.map(({ phase, offset }) => [phase, offset]));
  return phases.map((phase) => offsets.get(phase) ?? 0).join('.');
}
