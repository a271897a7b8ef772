import { html } from 'hono/html';
import { z } from 'zod';
import type { Markup } from '../../layout.ts';
import type { View } from '../../page-routes.ts';

const repositories = z.object({ items: z.array(z.object({ repository: z.string() })) });

export const nothingFits: Markup = html`<div class="empty">
<p>No stack fits the filter.</p>
<p><a href="/">Clear the filter</a></p>
</div>`;

/** The next step of somebody without stacks: it depends on whether the App is installed where they administer. */
export async function noStacks({ api }: Pick<View, 'api'>): Promise<Markup> {
  const { items } = await api.get('/api/v1/repositories?limit=1', repositories);
  const [first] = items;
  return html`<div class="empty"><p>There is no stack that you may see.</p>${first ? makeOne(first.repository) : notInstalled}</div>`;
}

const makeOne = (repository: string): Markup => html`
<p>A stack is a directory of a repository with the tool it is run with. Make the first one:</p>
<p><a class="button primary" href="/stacks/new">New stack</a></p>
<p>or by command:</p>
<p><code>npx slipway stack create "Network Prod" --repository ${repository} --project-root network --login-url s3://acme-state --stack-name prod</code></p>
<p>or write it into <code>.github/slipway.yml</code> on the default branch of the repository.</p>`;

const notInstalled = html`
<p>You administer no repository in which the GitHub App of this server is installed. Install it there: <a href="/account">your account</a>
says where. Or ask an administrator of a repository to make a stack or to give you access.</p>
<p>The administrators of the repository then write <code>.github/slipway.yml</code>, or use <code>npx slipway stack create</code>.</p>`;
