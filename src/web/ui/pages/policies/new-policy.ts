import { html } from 'hono/html';
import { z } from 'zod';
import { type PolicyKind, policyKinds } from '../../../../policies/policy.ts';
import { accountSchema } from '../../../api/accounts.ts';
import { needsAccountAdmin } from '../../../api/policy-guard.ts';
import { policySchema } from '../../../api/policy-object.ts';
import { problemNotice, textField } from '../../components/form-field.ts';
import { type Draft, formRefusal, freshDraft, refusedDraft } from '../../draft.ts';
import { formToken, type Markup, type Page } from '../../layout.ts';
import type { Form, FormResult, View } from '../../page-routes.ts';
import { checkedNotice, isChecked } from './checked.ts';
import { kindWords } from './kind-words.ts';
import { contentFields, contentIn } from './policy-form.ts';
import { policyPath } from './policy-reads.ts';
import { starters } from './starters.ts';

const accountList = z.object({ items: z.array(accountSchema), nextCursor: z.string().nullable() });
const crumbs = html`<p class="crumbs"><a href="/policies">Policies</a></p>`;

/** First the kind is chosen, then what depends on it is asked for. */
export async function newPolicyPage(view: View): Promise<Page> {
  if (!view.isInstanceAdmin) throw needsAccountAdmin();
  const kind = kindIn(view.query('kind'));
  if (kind === undefined) return kindChoice();
  const [only, another] = await accountsOf(view);
  const account = only !== undefined && another === undefined ? only : '';
  return pageWith(view, kind, freshDraft({ account, body: starters[kind], regoVersion: '1' }));
}

const kindIn = (text: string | undefined): PolicyKind | undefined =>
  policyKinds.find((kind) => kind === text);

function kindChoice(): Page {
  const body = html`${crumbs}<h1>New policy</h1>
<p>What shall it judge? The kind of a policy cannot be changed later.</p>
<ul class="kinds">${policyKinds.map(
    (kind) =>
      html`<li><div class="card"><p><a href="/policies/new?kind=${kind}">${kind}</a></p><p>${kindWords[kind]}</p></div></li>`,
  )}</ul>
<p class="soft">Ready ones to copy, with their tests, are in the folder <code>policies/</code> of Slipway.</p>`;
  return { title: 'New policy', section: 'policies', styles: ['policies.css'], body };
}

async function accountsOf({ api }: View): Promise<readonly string[]> {
  const { items } = await api.get('/api/v1/accounts?limit=200', accountList);
  return items.filter(({ state }) => state === 'installed').map(({ account }) => account);
}

async function pageWith(
  view: View,
  kind: PolicyKind,
  draft: Draft,
  checked: Markup | string = '',
): Promise<Page> {
  const accounts = kind === 'LOGIN' ? [] : await accountsOf(view);
  const body = html`${crumbs}<h1>New ${kind} policy</h1>
<p>${kindWords[kind]} <a href="/policies/new">Another kind</a></p>
${problemNotice(draft)}${checked}
<form method="post" action="/policies/new">${formToken(view.session)}<input type="hidden" name="kind" value="${kind}">
${kind === 'LOGIN' ? '' : accountField(draft, accounts)}
${contentFields(draft, kind)}
<div class="actions"><button class="primary" name="act" value="save">Create policy</button><button name="act" value="check">Check it</button></div></form>`;
  return {
    ...{ title: `New ${kind} policy`, section: 'policies' },
    ...{ styles: ['settings.css', 'policies.css'], body },
  };
}

const accountField = (draft: Draft, accounts: readonly string[]): Markup =>
  html`${textField(draft, {
    ...{ name: 'account', label: 'Account' },
    attributes: html` required list="accounts" maxlength="200" spellcheck="false" autocapitalize="off" autocomplete="off"`,
    help: 'Whose stacks it may judge.',
  })}<datalist id="accounts">${accounts.map((account) => html`<option value="${account}"></option>`)}</datalist>`;

export async function createPolicy(form: Form): Promise<FormResult> {
  const kind = kindIn(form.field('kind'));
  if (kind === undefined) return { goTo: '/policies/new' };
  try {
    if (isChecked(form)) {
      const checked = await checkedNotice(form, kind);
      return {
        page: await pageWith(form, kind, { ...form, problem: null, stored: null }, checked),
        status: 200,
      };
    }
    const account = kind === 'LOGIN' ? null : form.field('account').trim();
    const made = await form.api.send('POST', '/api/v1/policies', {
      ...{ kind, ...contentIn(form, kind), account },
    });
    return { goTo: policyPath(policySchema.parse(made).id) };
  } catch (error) {
    const { problem, status } = formRefusal(error);
    return { page: await pageWith(form, kind, refusedDraft(form, problem)), status };
  }
}
