import { html } from 'hono/html';
import type { RunObject } from '../../../api/run-object.ts';
import type { Markup } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import type { RunFacts } from './run-facts.ts';
import type { TabContent } from './run-frame.ts';

/** The end of a long log says what went wrong; the whole of it is a link away. */
const shownLogBytes = 200_000;
type LogEnd = Awaited<ReturnType<View['api']['logEnd']>>;
const noLog: LogEnd = { text: '', isCut: false };

/** The output of the run's commands. */
export async function logTab({ api }: View, { run, apiPath }: RunFacts): Promise<TabContent> {
  return { body: logOf(run, run.logRemoved ? noLog : await api.logEnd(apiPath, shownLogBytes)) };
}

function logOf({ id, logRemoved }: RunObject, { text, isCut }: LogEnd): Markup {
  if (logRemoved) return html`<p class="soft">The log was removed for its age.</p>`;
  if (text === '') return html`<p class="soft">There is no output yet.</p>`;
  // From a whole line on, if there is one.
  const shown = isCut ? text.slice(text.indexOf('\n') + 1) : text;
  return html`${isCut ? html`<p class="soft">The end of it; <a href="/api/v1/runs/${id}/logs">all of it</a>.</p>` : ''}
<div class="card"><pre tabindex="0" aria-label="Log">${shown}</pre></div>`;
}
