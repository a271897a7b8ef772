import { html } from 'hono/html';
import { z } from 'zod';
import { isTerminal } from '../../../../runs/run.ts';
import { attachedSchema } from '../../../api/stack-policies.ts';
import { policyDecision } from '../../components/policy-decision.ts';
import { type Draft, freshDraft } from '../../draft.ts';
import type { Markup } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { stackPath } from '../../stack-path.ts';
import { decisionPageSchema, policyPath } from '../policies/policy-reads.ts';
import { overridesOf } from './override-section.ts';
import { reviewsSection } from './reviews-section.ts';
import type { RunFacts } from './run-facts.ts';
import type { TabContent } from './run-frame.ts';

const attachedList = z.object({ items: z.array(attachedSchema) });

/** What policies said of the run, what people said to them, and who lets it pass all the same. */
export async function policiesTab(
  view: View,
  facts: RunFacts,
  draft: Draft = freshDraft(),
): Promise<TabContent> {
  const { items } = await view.api.get(`${facts.apiPath}/policies`, decisionPageSchema);
  const overrides = await overridesOf(view, facts, draft);
  const body = html`${overrides.given}
${items.length === 0 ? await nothingSaid(view, facts) : ''}
<ul class="decisions">${items.toReversed().map((decision) => {
    const { id, name, kind } = decision.policy;
    const bench =
      view.isInstanceAdmin && kind === 'PLAN'
        ? html` <a class="small" href="${policyPath(id)}/workbench?run=${facts.run.id}">Try it out on this plan</a>`
        : '';
    return policyDecision(decision, html`<a href="${policyPath(id)}">${name}</a>${bench}`, view.nowMs);
  })}</ul>
${overrides.form}
${await reviewsSection(view, facts)}`;
  return { styles: ['policies.css'], body };
}

/** Why it is empty here, and what would change that. */
async function nothingSaid({ api }: View, { run, stack }: RunFacts): Promise<Markup> {
  const path = stackPath(stack.account, stack.id);
  const { items } = await api.get(`/api/v1${path}/policies`, attachedList);
  const settings = html`<a href="${path}/settings/policies">Policies of the stack</a>`;
  if (items.length === 0) {
    return html`<div class="empty"><p>No policy judged this run: none is attached to the stack.</p><p>${settings}</p></div>`;
  }
  const count = items.length === 1 ? 'One policy judges' : `${items.length} policies judge`;
  const words = isTerminal(run.state)
    ? 'but none was asked of this run: it ended before there was anything to judge, or began before they were attached.'
    : 'but none was asked of this run so far.';
  return html`<div class="empty"><p>${count} the stack, ${words}</p><p>${settings}</p></div>`;
}
