import { html } from 'hono/html';
import { isAttachable } from '../../../../policies/policies.ts';
import { pager } from '../../components/pager.ts';
import { policyDecision } from '../../components/policy-decision.ts';
import { sourceErrors, sourceListing } from '../../components/source-listing.ts';
import { timeAgo } from '../../components/time.ts';
import { type Draft, freshDraft } from '../../draft.ts';
import { ApiRefusal, type Tagged } from '../../in-process-api.ts';
import type { Markup, Page } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { queryOf } from '../../query.ts';
import { stackPath } from '../../stack-path.ts';
import { checkSource, hintNotice } from './checked.ts';
import { judgedStacks, judgedStacksSchema } from './judged-stacks.ts';
import { kindWords } from './kind-words.ts';
import { policyFrame } from './policy-frame.ts';
import { apiPathOf, decisionPageSchema, type Policy, policyPath, readPolicy } from './policy-reads.ts';
import { policyRemoval } from './policy-removal.ts';

/** One policy: its source, what it judges, and for those who manage it what it said. */
export const policyPage = async (view: View): Promise<Page> => policyPageWith(view, await readPolicy(view));

/** `removal`: what was typed to delete it, and refused. */
export async function policyPageWith(
  view: View,
  { value: policy, etag }: Tagged<Policy>,
  removal: Draft = freshDraft(),
): Promise<Page> {
  const { isInstanceAdmin } = view;
  const stacks = isAttachable(policy.kind)
    ? await view.api.get(`${apiPathOf(view)}/stacks?limit=100`, judgedStacksSchema)
    : { items: [], nextCursor: null };
  const body = html`<p>${kindWords[policy.kind]}</p>
${isInstanceAdmin ? await standing(view, policy) : ''}
${sourceListing(policy.body)}
${facts(policy, view.nowMs)}
<h2>What it judges</h2>
${judgedStacks(policy, stacks)}
${isInstanceAdmin ? await decisions(view, policy) : ''}
${isInstanceAdmin ? policyRemoval(view, policy, etag, stacks, removal) : ''}`;
  return policyFrame(view, policy, 'Policy', body);
}

/** Whether the engine takes it today: it may be another one than it was saved with. */
async function standing(view: View, { kind, body, regoVersion }: Policy): Promise<Markup | string> {
  try {
    return hintNotice((await checkSource(view, kind, { body, regoVersion })).hints);
  } catch (error) {
    if (!(error instanceof ApiRefusal)) throw error;
    const consequence = 'Whatever it judges is blocked until this is mended.';
    return html`<div class="notice bad"><p>${error.message}</p><p>${consequence}</p></div>
${sourceErrors(
  body,
  error.issues.filter(({ path }) => path === 'body'),
)}`;
  }
}

function facts({ rules, regoVersion, labels, updatedAt, updatedBy, digest }: Policy, nowMs: number): Markup {
  return html`<dl class="facts">
<dt>Rules</dt><dd class="mono">${rules.join(', ')}</dd>
<dt>Language</dt><dd>Rego, version ${regoVersion}</dd>
${labels.length === 0 ? '' : html`<dt>Labels</dt><dd>${labels.map((label) => html`<span class="label">${label}</span> `)}</dd>`}
<dt>Changed</dt><dd>${timeAgo(updatedAt, nowMs)} by ${updatedBy}</dd>
<dt>Digest</dt><dd class="mono">${digest}</dd>
</dl>`;
}

async function decisions(view: View, { id }: Policy): Promise<Markup> {
  const { api, nowMs, query } = view;
  const cursor = query('cursor');
  const { items, nextCursor } = await api.get(
    `${apiPathOf(view)}/decisions${queryOf({ cursor, limit: '20' })}`,
    decisionPageSchema,
  );
  const words = { first: 'Newest decisions', next: 'Older decisions' };
  return html`<h2 id="decisions">Decisions</h2>
${
  items.length === 0
    ? html`<p class="soft">It was not asked yet.</p>`
    : html`<ul class="decisions">${items.map((decision) => {
        const { run, stack, subject } = decision;
        const of = stack
          ? html`<a href="${stackPath(stack.account, stack.id)}">${stack.account}/${stack.id}</a>`
          : html`<bdi>${subject}</bdi>`;
        return policyDecision(
          decision,
          run === undefined ? of : html`${of}, <a href="/runs/${run}/policies">run</a>`,
          nowMs,
        );
      })}</ul>`
}
${pager({ path: policyPath(id), fields: {}, cursor, nextCursor, words })}`;
}
