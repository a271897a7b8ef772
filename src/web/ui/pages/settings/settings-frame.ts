import { html } from 'hono/html';
import type { z } from 'zod';
import { stackSchema } from '../../../api/stack-object.ts';
import type { Tagged } from '../../in-process-api.ts';
import type { Markup, Page } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { queryOf } from '../../query.ts';
import { stackPath } from '../../stack-path.ts';

export type Stack = z.output<typeof stackSchema>;

const tabs = [
  { at: '', words: 'General' },
  { at: '/environment', words: 'Environment' },
  { at: '/hooks', words: 'Hooks' },
  { at: '/policies', words: 'Policies' },
  { at: '/integrations', words: 'Integrations' },
] as const;
export type SettingsTab = (typeof tabs)[number]['words'];

/** Below /api/v1, of the stack itself. */
export const pathOf = ({ param }: Pick<View, 'param'>): string => stackPath(param('account'), param('stack'));

export const apiPathOf = (view: Pick<View, 'param'>): string => `/api/v1${pathOf(view)}`;

export const stackOf = (view: View): Promise<Tagged<Stack>> => view.api.tagged(apiPathOf(view), stackSchema);

/** A page of settings: where it is, and the way to the others. */
export function settingsPage(
  { account, id, name, role }: Stack,
  tab: SettingsTab,
  body: Markup,
  more: Partial<Page> = {},
): Page {
  const path = stackPath(account, id);
  const links = tabs.map(
    ({ at, words }) =>
      html`<a href="${path}/settings${at}"${words === tab ? html` aria-current="page"` : ''}>${words}</a>`,
  );
  return {
    title: `${tab}: settings of ${name}`,
    section: 'stacks',
    styles: ['settings.css'],
    ...more,
    body: html`<p class="crumbs"><a href="/">Stacks</a> / <a href="${path}">${name}</a></p>
<h1>Settings</h1>
<nav class="tabs" aria-label="Settings">${links}${role === 'admin' ? auditLink(account, id) : ''}</nav>
${body}`,
  };
}

const auditLink = (account: string, id: string): Markup =>
  html`<a href="/audit${queryOf({ stack: `${account}/${id}` })}">Audit log</a>`;

/** What the repository file decides cannot be changed here. */
export function managedNotice({ repository, managedBy }: Stack, githubUrl: string): Markup | string {
  if (managedBy !== 'file') return '';
  const file = '.github/slipway.yml';
  // HEAD is the default branch, the only one that counts.
  const href = `${githubUrl}/${repository}/blob/HEAD/${file}`;
  return html`<div class="notice"><p><a href="${href}"><code>${file}</code></a> of ${repository} decides these settings, on its default branch.</p>
<p>Change them there: the next look at the file would undo what is changed here (<code>managed-by-file</code>).</p></div>`;
}
