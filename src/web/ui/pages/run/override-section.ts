import { html } from 'hono/html';
import { z } from 'zod';
import { overrideSchema } from '../../../api/run-override.ts';
import { problemNotice, textField } from '../../components/form-field.ts';
import { timeAgo } from '../../components/time.ts';
import type { Draft } from '../../draft.ts';
import { formToken, type Markup } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import type { RunFacts } from './run-facts.ts';

type Override = z.output<typeof overrideSchema>;

const overrideList = z.object({ items: z.array(overrideSchema) });

/** Who lets the changes of the run pass although policies deny them, and the way on. */
export async function overridesOf(
  view: View,
  facts: RunFacts,
  draft: Draft,
): Promise<{
  /** What is known already, above what policies said. */
  readonly given: Markup;
  /** For administrators, below it. */
  readonly form: Markup | string;
}> {
  const { run, stack, apiPath } = facts;
  const { items } = await view.api.get(`${apiPath}/overrides`, overrideList);
  const isDenied = run.outcome === 'policy_denied';
  const again = isDenied && items.length > 0 && stack.role !== 'reader' ? runAgain(view, facts) : '';
  return {
    given: html`${problemNotice(draft)}${items.map((override) => givenBy(override, run.id, view.nowMs))}${again}`,
    form: isDenied && items.length === 0 ? overrideForm(view, facts, draft) : '',
  };
}

function givenBy({ run, by, reason, timestamp }: Override, here: string, nowMs: number): Markup {
  const where =
    run === here ? '' : html` They were denied in <a href="/runs/${run}/policies">an earlier run</a>.`;
  return html`<div class="notice person"><p><strong>${by}</strong> lets exactly these changes pass although policies deny them (${timeAgo(timestamp, nowMs)}): <bdi>${reason}</bdi></p>
<p class="small soft">A run of the same commit that would change anything else is denied as before.${where}</p></div>`;
}

/** The denied run itself stays what it is. */
function runAgain({ session }: View, { run }: RunFacts): Markup {
  return html`<form method="post" action="/runs/${run.id}/retry">${formToken(session)}
<input type="hidden" name="state_version" value="${run.stateVersion}">
<p>This run stays denied. A new one of commit <span class="mono">${run.commit.hash.slice(0, 7)}</span> plans anew, and passes if it would change the same. <button class="primary">Run it again</button></p></form>`;
}

function overrideForm({ session }: View, { run, stack }: RunFacts, draft: Draft): Markup | string {
  if (stack.role !== 'admin') {
    return html`<p class="soft">An administrator of the stack can let exactly these changes pass.</p>`;
  }
  return html`<details class="override"${draft.problem === null ? '' : html` open`}><summary>Let these changes pass all the same</summary>
<form method="post" action="/runs/${run.id}/override">${formToken(session)}
<p>This run stays denied. The next run of the stack passes if it is of commit <span class="mono">${run.commit.hash.slice(0, 7)}</span> and would change exactly the same;
the denials then count as warnings. Anything else is judged as before. Your name and the reason stand on both runs and in the audit log.</p>
<p class="small soft">Digest of the changes: <span class="mono">${run.changesDigest ?? ''}</span></p>
${textField(draft, {
  ...{ name: 'reason', label: 'Reason' },
  attributes: html` required maxlength="1000" autocomplete="off"`,
  help: 'Why it is right this once.',
})}
<button class="danger">Let these changes pass</button></form></details>`;
}
