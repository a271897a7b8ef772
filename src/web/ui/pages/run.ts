import { html } from 'hono/html';
import { z } from 'zod';
import type { Button } from '../../../runs/buttons.ts';
import { isTerminal, possibleCommands } from '../../../runs/run.ts';
import { runSchema, runState } from '../../api/run-object.ts';
import { stackSchema } from '../../api/stack-object.ts';
import { deltaSigns } from '../components/delta.ts';
import { stateBadge } from '../components/state-badge.ts';
import { timeAgo } from '../components/time.ts';
import { formToken, type Markup, type Page } from '../layout.ts';
import type { Form, FormResult, View } from '../page-routes.ts';
import { stackPath } from '../stack-path.ts';

type Run = z.output<typeof runSchema>;

const stateList = z.object({
  items: z.array(
    z.object({ state: runState, timestamp: z.number(), actor: z.string(), note: z.string().optional() }),
  ),
});
/** As in the specification, §2.3; only what is shown. */
const stepList = z.object({
  items: z.array(z.looseObject({ op: z.string(), urn: z.string(), type: z.string().optional() })),
  nextCursor: z.string().nullable(),
});

/** The end of a long log says what went wrong; the whole of it is a link away. */
const shownLogBytes = 200_000;
type LogEnd = Awaited<ReturnType<View['api']['logEnd']>>;
const noLog: LogEnd = { text: '', isCut: false };

/** One run: where it stands and what happens next, its plan, its output. */
export async function runPage({ api, session, nowMs, param }: View): Promise<Page> {
  const path = `/api/v1/runs/${encodeURIComponent(param('run'))}`;
  const run = await api.get(path, runSchema);
  const stackAt = stackPath(run.stack.account, run.stack.id);
  const [{ role }, states, steps, log] = await Promise.all([
    api.get(`/api/v1${stackAt}`, stackSchema),
    api.get(`${path}/states`, stateList),
    api.get(`${path}/changes?limit=200`, stepList),
    run.logRemoved ? noLog : api.logEnd(path, shownLogBytes),
  ]);
  const { stack, commit, delta } = run;
  const body = html`<p class="crumbs"><a href="/">Stacks</a> / <a href="${stackAt}">${stack.name}</a></p>
<div class="head"><h1>${titleOf(run)}</h1>${stateBadge(run.state)}${delta ? deltaSigns(delta) : ''}
<div class="actions">${role === 'reader' ? '' : buttonsOf(run).map((each) => buttonForm(run, each, formToken(session)))}</div></div>
${blockedNotice(run)}
${run.note === undefined ? '' : html`<div class="notice"><p>${run.note}</p></div>`}
<dl class="facts">
<dt>Commit</dt><dd><a href="${commit.url}" rel="noreferrer"><span class="mono">${commit.hash.slice(0, 7)}</span></a> ${commit.message.split('\n', 1)[0]}</dd>
<dt>Branch</dt><dd class="mono">${run.branch}</dd>
<dt>Started by</dt><dd>${run.triggeredBy}, ${timeAgo(run.createdAt, nowMs)}</dd>
${run.pullRequest ? html`<dt>Pull request</dt><dd>#${run.pullRequest.number} ${run.pullRequest.title}</dd>` : ''}
${run.untrusted ? html`<dt>Secrets</dt><dd>none: it comes from a fork, or from a bot that is not trusted</dd>` : ''}
</dl>
<h2>States</h2>
<div class="scroll"><table><thead><tr><th scope="col">State</th><th scope="col">When</th><th scope="col">By</th><th scope="col">Note</th></tr></thead>
<tbody>${states.items.map(
    ({ state, timestamp, actor, note }) =>
      html`<tr><td>${stateBadge(state)}</td><td>${timeAgo(timestamp, nowMs)}</td><td>${actor}</td><td>${note ?? ''}</td></tr>`,
  )}</tbody></table></div>
<h2>Plan</h2>
${planOf(run, steps)}
<h2>Log</h2>
${logOf(run, log)}`;
  return { title: `${stack.name}, ${titleOf(run)}`, section: 'runs', body };
}

const titles: Record<Run['type'], string> = {
  PROPOSED: 'Preview',
  TRACKED: 'Deployment',
  TASK: 'Task',
  DESTROY: 'Tear-down',
};
const titleOf = ({ type, commit }: Run): string => `${titles[type]} of ${commit.hash.slice(0, 7)}`;

interface ShownButton {
  readonly verb: (typeof runVerbs)[number];
  readonly words: string;
  readonly look: '' | 'primary';
}

export const runVerbs = [
  'confirm',
  'discard',
  'cancel',
  'stop',
  'retry',
] as const satisfies readonly Button[];

function buttonsOf(run: Run): readonly ShownButton[] {
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
function buttonForm({ id, type, stateVersion, stack }: Run, button: ShownButton, token: Markup): Markup {
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

function blockedNotice({ blockedBy }: Run): Markup | string {
  switch (blockedBy?.kind) {
    case 'run':
      return html`<div class="notice"><p>Waits for <a href="/runs/${blockedBy.run}">another run of the stack</a>, which is ${blockedBy.state}.</p></div>`;
    case 'lock':
      return html`<div class="notice person"><p>Waits until ${blockedBy.holder} unlocks the stack${blockedBy.reason === '' ? '' : html`: ${blockedBy.reason}`}.</p></div>`;
    case 'repository':
      return html`<div class="notice person"><p>Waits: ${blockedBy.reason}.</p></div>`;
    case undefined:
      return '';
  }
}

/** These look at a resource and change nothing. */
const unchanged: ReadonlySet<string> = new Set(['same', 'read', 'refresh']);

function planOf({ delta }: Run, { items, nextCursor }: z.output<typeof stepList>): Markup {
  const changes = items.filter(({ op }) => !unchanged.has(op));
  if (delta === undefined) return html`<p class="soft">Nothing is planned yet.</p>`;
  if (changes.length === 0) return html`<p class="soft">Nothing to change.</p>`;
  return html`<div class="scroll"><table><thead><tr><th scope="col">Change</th><th scope="col">Resource</th></tr></thead>
<tbody>${changes.map(({ op, urn, type }) => html`<tr><td>${op}</td><td><span class="mono">${urn.split('::').at(-1)}</span><div class="small soft mono">${type ?? ''}</div></td></tr>`)}</tbody></table></div>
${nextCursor === null ? '' : html`<p class="soft">These are the first ${items.length} steps. <code>npx slipway run changes</code> shows all.</p>`}`;
}

function logOf({ id, logRemoved }: Run, { text, isCut }: LogEnd): Markup {
  if (logRemoved) return html`<p class="soft">The log was removed for its age.</p>`;
  if (text === '') return html`<p class="soft">There is no output yet.</p>`;
  // From a whole line on, if there is one.
  const shown = isCut ? text.slice(text.indexOf('\n') + 1) : text;
  return html`${isCut ? html`<p class="soft">The end of it; <a href="/api/v1/runs/${id}/logs">all of it</a>.</p>` : ''}
<div class="card"><pre tabindex="0" aria-label="Log">${shown}</pre></div>`;
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
