import { html } from 'hono/html';
import type { Markup, Page } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { type Policy, policyPath } from './policy-reads.ts';

const tabs = [
  { at: '', words: 'Policy', isForAdmins: false },
  { at: '/versions', words: 'Versions', isForAdmins: false },
  { at: '/workbench', words: 'Workbench', isForAdmins: true },
  { at: '/edit', words: 'Edit', isForAdmins: true },
] as const;
export type PolicyTab = (typeof tabs)[number]['words'];

/** A page of a policy: what it is, and the way to the others. */
export function policyFrame(
  { isInstanceAdmin }: Pick<View, 'isInstanceAdmin'>,
  { id, name, kind, account, version, description }: Policy,
  tab: PolicyTab,
  body: Markup,
  more: Partial<Page> = {},
): Page {
  const path = policyPath(id);
  return {
    title: tab === 'Policy' ? name : `${tab}: ${name}`,
    section: 'policies',
    ...more,
    styles: ['settings.css', 'lists.css', 'diff.css', 'policies.css', ...(more.styles ?? [])],
    body: html`<p class="crumbs"><a href="/policies">Policies</a> / ${account ?? 'the server'}</p>
<div class="head"><h1>${name}</h1><span class="label">${kind}</span> <span class="soft">version ${version}</span></div>
${description === '' ? '' : html`<p>${description}</p>`}
<nav class="tabs" aria-label="Policy">${tabs
      .filter(({ isForAdmins }) => isInstanceAdmin || !isForAdmins)
      .map(
        ({ at, words }) =>
          html`<a href="${path}${at}"${words === tab ? html` aria-current="page"` : ''}>${words}</a>`,
      )}</nav>
${body}`,
  };
}
