import { html } from 'hono/html';
import type { RunObject } from '../../../api/run-object.ts';
import { deltaSigns } from '../../components/delta.ts';
import { stateBadge } from '../../components/state-badge.ts';
import type { Markup, Page } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { stackPath } from '../../stack-path.ts';
import { actionsOf } from './actions.ts';
import type { RunFacts } from './run-facts.ts';

const tabs = [
  { tab: 'plan', words: 'Plan' },
  { tab: 'log', words: 'Log' },
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
  return {
    title: `${run.stack.name}, ${title}`,
    section: 'runs',
    ...needed,
    body: html`<div id="run-frame">
<p class="crumbs"><a href="/">Stacks</a> / <a href="${stackPath(run.stack.account, run.stack.id)}">${run.stack.name}</a></p>
<div class="head"><h1>${title}</h1>${stateBadge(run.state)}${run.delta ? deltaSigns(run.delta) : ''}
${actionsOf(view, facts)}</div>
${blockedNotice(run)}
${run.note === undefined ? '' : html`<div class="notice"><p>${run.note}</p></div>`}
</div>
<nav class="tabs" aria-label="Run">${tabs.map(
      (each) =>
        html`<a href="/runs/${run.id}/${each.tab}"${each.tab === tab ? html` aria-current="page"` : ''}>${each.words}</a>`,
    )}</nav>
<div id="run-tab">${body}</div>`,
  };
}

const titles: Record<RunObject['type'], string> = {
  PROPOSED: 'Preview',
  TRACKED: 'Deployment',
  TASK: 'Task',
  DESTROY: 'Tear-down',
};
const titleOf = ({ type, commit }: RunObject): string => `${titles[type]} of ${commit.hash.slice(0, 7)}`;

function blockedNotice({ blockedBy }: RunObject): Markup | string {
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
