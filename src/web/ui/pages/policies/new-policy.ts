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
import { library } from './library.ts';
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
  const ready = library.find((each) => each.kind === kind && each.name === view.query('from'));
  const begin = ready ? { name: ready.name, body: ready.body } : { body: starters[kind] };
  return pageWith(view, kind, freshDraft({ account, ...begin, regoVersion: '1' }));
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
<p class="soft">Each begins with a small one that works, or with a ready one of the library.</p>`;
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
${readyOnes(kind)}${problemNotice(draft)}${checked}
<form method="post" action="/policies/new">${formToken(view.session)}<input type="hidden" name="kind" value="${kind}">
${kind === 'LOGIN' ? '' : accountField(draft, accounts)}
${contentFields(draft, kind)}
<div class="actions"><button class="primary" name="act" value="save">Create policy</button><button name="act" value="check">Check it</button></div></form>`;
  return {
    ...{ title: `New ${kind} policy`, section: 'policies' },
    ...{ styles: ['settings.css', 'policies.css'], body },
  };
}

function readyOnes(kind: PolicyKind): Markup | string {
  const fitting = library.filter((ready) => ready.kind === kind);
  if (fitting.length === 0) return '';
  return html`<details><summary>Begin with a ready one</summary><ul>${fitting.map(
    ({ name, summary }) =>
      html`<li><a href="/policies/new?kind=${kind}&amp;from=${name}">${name}</a>: ${summary}</li>`,
  )}</ul></details>`;
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
