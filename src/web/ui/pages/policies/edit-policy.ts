import { html } from 'hono/html';
import { needsAccountAdmin } from '../../../api/policy-guard.ts';
import { problemNotice } from '../../components/form-field.ts';
import { type Draft, formRefusal, freshDraft, refusedDraft } from '../../draft.ts';
import type { Tagged } from '../../in-process-api.ts';
import { formToken, type Markup, type Page } from '../../layout.ts';
import type { Form, FormResult, View } from '../../page-routes.ts';
import { etagField, ifMatchOf } from '../settings/etag-field.ts';
import { checkedNotice, isChecked } from './checked.ts';
import { contentFields, contentIn, valuesOf } from './policy-form.ts';
import { policyFrame } from './policy-frame.ts';
import { apiPathOf, type Policy, policyPath, readPolicy } from './policy-reads.ts';

/** For those who manage it. */
export async function editPolicyPage(view: View): Promise<Page> {
  const policy = await readPolicy(view);
  if (!view.isInstanceAdmin) throw needsAccountAdmin();
  return pageWith(view, policy, { ...freshDraft(), ...valuesOf(policy.value) });
}

function pageWith(
  view: View,
  { value: policy, etag }: Tagged<Policy>,
  draft: Draft,
  checked: Markup | string = '',
): Page {
  const body = html`${problemNotice(draft)}${checked}
<form method="post" action="${policyPath(policy.id)}/edit">${formToken(view.session)}${etagField(etag)}
${contentFields(draft, policy.kind)}
<p class="soft">Another source becomes version ${policy.version + 1}. What waits for approval is judged anew.</p>
<div class="actions"><button class="primary" name="act" value="save">Save policy</button><button name="act" value="check">Check it</button></div></form>`;
  return policyFrame(view, policy, 'Edit', body);
}

export async function savePolicy(form: Form): Promise<FormResult> {
  const stored = await readPolicy(form);
  const { kind, id } = stored.value;
  // Until it is saved, what was loaded at first counts.
  const loaded = { value: stored.value, etag: ifMatchOf(form) };
  try {
    if (isChecked(form)) {
      const checked = await checkedNotice(form, kind);
      return { page: pageWith(form, loaded, { ...form, problem: null, stored: null }, checked), status: 200 };
    }
    await form.api.send('PUT', apiPathOf(form), contentIn(form, kind), { ifMatch: ifMatchOf(form) });
    return { goTo: policyPath(id) };
  } catch (error) {
    const { problem, status } = formRefusal(error);
    const next = problem.code === 'precondition-failed' ? stored : loaded;
    return { page: pageWith(form, next, refusedDraft(form, problem, valuesOf(stored.value))), status };
  }
}
