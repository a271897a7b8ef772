import { html } from 'hono/html';
import { z } from 'zod';
import { type RunObject, runSchema, runTypes } from '../../../api/run-object.ts';
import { type StackObject, stackSchema } from '../../../api/stack-object.ts';
import { commitLine } from '../../components/commit.ts';
import { pager } from '../../components/pager.ts';
import { runTable } from '../../components/run-table.ts';
import { stateBadge } from '../../components/state-badge.ts';
import { timeAgo } from '../../components/time.ts';
import { type Draft, formRefusal, refusedDraft } from '../../draft.ts';
import type { Markup, Page } from '../../layout.ts';
import type { Form, FormResult, View } from '../../page-routes.ts';
import { queryOf } from '../../query.ts';
import { stackPath } from '../../stack-path.ts';
import { lockForm, lockNotice } from './lock.ts';
import { triggerForms, triggerRun } from './trigger.ts';

const runPage = z.object({ items: z.array(runSchema), nextCursor: z.string().nullable() });

/** One stack: where it stands, what keeps it back, what can be started, its runs. */
export const stackPage = (view: View): Promise<Page> => pageWith(view, null);

/** The forms that start a run. What was typed is there again when it is refused. */
export async function submitTrigger(form: Form): Promise<FormResult> {
  try {
    return { goTo: `/runs/${await triggerRun(form)}` };
  } catch (error) {
    const { problem, status } = formRefusal(error);
    return { page: await pageWith(form, refusedDraft(form, problem)), status };
  }
}

async function pageWith(view: View, draft: Draft | null): Promise<Page> {
  const { api, nowMs, param, query } = view;
  const path = stackPath(param('account'), param('stack'));
  const [cursor, type] = [query('cursor'), query('type')];
  const stack = await api.get(`/api/v1${path}`, stackSchema);
  const runs = (fields: Parameters<typeof queryOf>[0]) =>
    api.get(`/api/v1${path}/runs${queryOf(fields)}`, runPage);
  const { items, nextCursor } = await runs({ type, cursor, limit: '50' });
  const [deployed] = (await runs({ type: 'TRACKED', state: 'FINISHED', limit: '1' })).items;
  const { account, name } = stack;
  const words = { first: 'Newest runs', next: 'Older runs' };
  const body = html`<p class="crumbs"><a href="/">Stacks</a> / ${account}</p>
<div class="head"><h1>${name}</h1>${stateBadge(stack.state)}<div class="actions"><a class="button" href="${path}/settings">Settings</a></div></div>
${stack.description === '' ? '' : html`<p>${stack.description}</p>`}
${awayNotice(stack)}${lockNotice(stack, view)}${lineNotice(stack)}
${facts(stack, deployed, nowMs)}
<div class="forms">${triggerForms(stack, view, draft)}${lockForm(stack, view)}</div>
<h2 id="runs">Runs</h2>
${typeTabs(path, type)}
${items.length > 0 ? runTable(items, { nowMs, withStack: false }) : noRuns(stack, path, type ?? '', nextCursor)}
${pager({ path, fields: { type }, cursor, nextCursor, words })}`;
  return { title: name, section: 'stacks', styles: ['lists.css'], body };
}

function facts(stack: StackObject, deployed: RunObject | undefined, nowMs: number): Markup {
  const { repository, projectRoot, branch, autodeploy, managedBy, labels } = stack;
  return html`<dl class="facts">
<dt>Repository</dt><dd>${repository}${projectRoot === '' ? '' : html`, <span class="mono">${projectRoot}</span>`}</dd>
<dt>Branch</dt><dd class="mono">${branch}</dd>
<dt>Deployed</dt><dd>${deployed ? html`${commitLine(deployed.commit)} <span class="soft">by ${deployed.commit.authorName}, <a href="/runs/${deployed.id}">run</a> of ${timeAgo(deployed.createdAt, nowMs)}</span>` : 'nothing yet'}</dd>
<dt>Applied</dt><dd>${autodeploy ? 'without confirmation' : 'after somebody confirms the plan'}</dd>
<dt>Settings</dt><dd>${managedBy === 'file' ? 'in .github/slipway.yml of the repository' : 'in Slipway'}</dd>
${labels.length === 0 ? '' : html`<dt>Labels</dt><dd>${labels.map((label) => html`<a class="label" href="/${queryOf({ label })}">${label}</a> `)}</dd>`}
</dl>`;
}

const awayReasons: Readonly<Record<NonNullable<StackObject['away']>, string>> = {
  removed: 'the GitHub App does not see its repository any more',
  suspended: 'the GitHub App is suspended on its account',
  archived: 'its repository is archived',
};

function awayNotice({ away }: StackObject): Markup | string {
  return away === undefined
    ? ''
    : html`<div class="notice person"><p>Nothing starts: ${awayReasons[away]}.</p></div>`;
}

/** What waits, and for what. A lock has a notice of its own. */
function lineNotice({ queued, lastRun: run, lock }: StackObject): Markup | string {
  if (queued === 0 || run === null) return '';
  const [runs, verb] =
    queued === 1 ? ['One run', 'waits'] : [`${queued >= 100 ? '100 or more' : queued} runs`, 'wait'];
  if (run.state !== 'QUEUED') {
    return html`<div class="notice"><p>${runs} ${verb} for <a href="/runs/${run.id}">the ${run.type} run</a>, which is ${run.state}.</p></div>`;
  }
  return html`<div class="notice"><p>${runs} ${verb}${lock === null ? '' : ' until the stack is unlocked'}.</p></div>`;
}

function typeTabs(path: string, chosen: string | undefined): Markup {
  const tab = (type: string, words: string) =>
    html`<a href="${path}${queryOf({ type })}#runs"${(chosen ?? '') === type ? html` aria-current="page"` : ''}>${words}</a>`;
  return html`<nav class="tabs" aria-label="Types of runs">${tab('', 'All')}${runTypes.map((type) => tab(type, type))}</nav>`;
}

function noRuns(
  { branch, role }: StackObject,
  path: string,
  type: string,
  nextCursor: string | null,
): Markup {
  if (nextCursor !== null || type !== '') {
    return html`<div class="empty"><p>There is no ${type} run here.</p><p><a href="${path}">All runs</a></p></div>`;
  }
  return html`<div class="empty"><p>It never ran. A push to <span class="mono">${branch}</span> that changes it starts the first run${role === 'reader' ? '' : '; so does “Trigger run” above'}.</p></div>`;
}
