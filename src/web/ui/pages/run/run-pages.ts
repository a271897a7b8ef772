import type { Page } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { detailsTab } from './details-tab.ts';
import { logTab } from './log-tab.ts';
import { planTab } from './plan-tab.ts';
import { policiesTab } from './policies-tab.ts';
import { type RunFacts, readRun } from './run-facts.ts';
import { framed, type Tab, type TabContent } from './run-frame.ts';
import { webhooksTab } from './webhooks-tab.ts';

const contents: Readonly<Record<Tab, (view: View, facts: RunFacts) => Promise<TabContent>>> = {
  plan: planTab,
  log: logTab,
  policies: (view, facts) => policiesTab(view, facts),
  webhooks: webhooksTab,
  details: detailsTab,
};

/** A run with the plan when there is one, else with the log. */
export async function runPage(view: View): Promise<Page> {
  return firstTab(view, await readRun(view));
}

export const firstTab = (view: View, facts: RunFacts): Promise<Page> =>
  show(view, facts, facts.run.delta ? 'plan' : 'log');

/** One page for each tab, by the last part of its address. */
export const runTabPages = Object.fromEntries(
  (Object.keys(contents) as Tab[]).map((tab) => [
    tab,
    async (view: View): Promise<Page> => show(view, await readRun(view), tab),
  ]),
);

const show = async (view: View, facts: RunFacts, tab: Tab): Promise<Page> =>
  framed(view, facts, tab, await contents[tab](view, facts));
