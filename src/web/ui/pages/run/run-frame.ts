import { html } from 'hono/html';
import { isTerminal, nothingToChange } from '../../../../runs/run.ts';
import type { RunObject } from '../../../api/run-object.ts';
import { commitLine } from '../../components/commit.ts';
import { deltaSigns } from '../../components/delta.ts';
import { stateBadge } from '../../components/state-badge.ts';
import type { Markup, Page } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { stackPath } from '../../stack-path.ts';
import { actionsOf } from './actions.ts';
import { nextSteps } from './next-steps.ts';
import type { RunFacts } from './run-facts.ts';
import { stateLine } from './state-line.ts';

const tabs = [
  { tab: 'plan', words: 'Plan' },
  { tab: 'log', words: 'Log' },
  { tab: 'policies', words: 'Policies' },
  { tab: 'webhooks', words: 'Webhooks' },
  { tab: 'details', words: 'Details' },
] as const;
export type Tab = (typeof tabs)[number]['tab'];

/** What a tab shows below the frame. */
export type TabContent = Pick<Page, 'body' | 'styles' | 'scripts'>;

/** Where a run stands and what changes it, the same on each of its pages, and one tab below. */
export function framed(view: View, facts: RunFacts, tab: Tab, { body, ...needed }: TabContent): Page {
  const { run } = facts;
  const title = titleOf(run);
  const sentence = facts.explanation.happened;
  // The log follows by itself, and a plan does not change once it is there.
  const isLive = tab !== 'log' && (tab !== 'plan' || run.delta === undefined);
  return {
    title: `${run.stack.name}, ${title}`,
    section: 'runs',
    styles: ['run.css', 'actions.css', ...(needed.styles ?? [])],
    scripts: ['live.js', ...(needed.scripts ?? [])],
    body: html`<div id="run-frame" data-live data-run="${run.id}" data-version="${run.stateVersion}" data-page="/runs/${run.id}/${tab}"
data-news="${run.state}. ${sentence}"${isTerminal(run.state) ? html` data-over` : ''}>
<p class="crumbs"><a href="/">Stacks</a> / <a href="${stackPath(run.stack.account, run.stack.id)}">${run.stack.name}</a></p>
<div class="head"><h1>${title}</h1>${stateBadge(run.state)}${run.delta ? deltaSigns(run.delta) : ''}
${actionsOf(view, facts)}</div>
${blockedNotice(run)}
<p class="sentence" id="run-sentence">${sentence}</p>
${blocksNotice(run)}
${noteOf(run)}
${nextSteps(view, facts)}
${causeLine(run)}
<p class="soft">${commitLine(run.commit)} on <span class="mono">${run.branch}</span>, by <bdi>${run.commit.authorName}</bdi></p>
${stateLine(facts, view.nowMs)}
</div>
<p id="run-news" class="hidden" role="status"></p>
<div id="run-away" class="notice person" role="alert" hidden><p>This page does not follow the run any more: you are logged out, or may not see it
now. <a href="/runs/${run.id}/${tab}">Load it again</a></p></div>
<nav class="tabs" aria-label="Run">${tabs.map(
      (each) =>
        html`<a href="/runs/${run.id}/${each.tab}"${each.tab === tab ? html` aria-current="page"` : ''}>${each.words}</a>`,
    )}</nav>
<div id="run-tab"${isLive ? html` data-live` : ''}>${body}</div>`,
  };
}

const titles: Record<RunObject['type'], string> = {
  PROPOSED: 'Preview',
  TRACKED: 'Deployment',
  TASK: 'Task',
  DESTROY: 'Tear-down',
};
const titleOf = ({ type, commit }: RunObject): string => `${titles[type]} of ${commit.hash.slice(0, 7)}`;

/** What happened, and what to do about it, on lines of their own. */
function noteOf({ note, state }: RunObject): Markup | string {
  if (note === undefined || note === nothingToChange) return '';
  return html`<div class="notice${state === 'FAILED' ? ' bad' : ''}"><p class="note">${note}</p></div>`;
}

function causeLine({ cause }: RunObject): Markup | string {
  if (cause === undefined) return '';
  return html`<p class="soft">Started by the policy <bdi>${cause.policy}</bdi> after <a href="/runs/${cause.run}">another run</a></p>`;
}

function blocksNotice({ blocks }: RunObject): Markup | string {
  if (blocks === undefined) return '';
  return html`<p class="soft">${blocks === 1 ? 'One newer run of the stack waits' : `${blocks} newer runs of the stack wait`} for it.</p>`;
}

function blockedNotice({ blockedBy }: RunObject): Markup | string {
  switch (blockedBy?.kind) {
    case 'run':
      return html`<div class="notice"><p>Waits for <a href="/runs/${blockedBy.run}">another run of the stack</a>, which is ${blockedBy.state}.</p></div>`;
    case 'lock':
      return html`<div class="notice person"><p>Waits until ${blockedBy.holder} unlocks the stack${blockedBy.reason === '' ? '' : html`: <bdi>${blockedBy.reason}</bdi>`}.</p></div>`;
    case 'approval':
      return html`<div class="notice person" id="run-blocked"><p>Waits for approval: <bdi>${blockedBy.reason}</bdi>.</p></div>`;
    case 'repository':
      return html`<div class="notice person"><p>Waits: ${blockedBy.reason}.</p></div>`;
    case undefined:
      return '';
  }
}
