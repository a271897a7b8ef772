import { html } from 'hono/html';
import type { z } from 'zod';
import { webhookSchema } from '../../../api/webhook-object.ts';
import type { Markup, Page } from '../../layout.ts';
import type { GoTo, View } from '../../page-routes.ts';
import { stackPath } from '../../stack-path.ts';
import { pathOf, type Stack, stackOf } from './settings-frame.ts';

export type Webhook = z.output<typeof webhookSchema>;

/** What the pages of one webhook begin with. */
export interface WebhookFacts {
  readonly webhook: Webhook;
  /** Of the webhook. */
  readonly etag: string | null;
  readonly stack: Stack;
  /** Of its page. */
  readonly path: string;
}

/** Below /api/v1. */
export const webhookApiPath = ({ param }: Pick<View, 'param'>): string =>
  `/api/v1/webhooks/${encodeURIComponent(param('webhook'))}`;

export const integrationsPath = (view: Pick<View, 'param'>): string =>
  `${pathOf(view)}/settings/integrations`;

export const webhookPath = (view: Pick<View, 'param'>): string =>
  `${integrationsPath(view)}/${encodeURIComponent(view.param('webhook'))}`;

export async function webhookFacts(view: View): Promise<WebhookFacts> {
  const { value: webhook, etag } = await view.api.tagged(webhookApiPath(view), webhookSchema);
  const { value: stack } = await stackOf(view);
  return { webhook, etag, stack, path: webhookPath(view) };
}

/** A page below a webhook's address. Under another stack's address it leads to the right one. */
export function ofWebhook(
  render: (view: View, facts: WebhookFacts) => Promise<Page | GoTo>,
  at: (view: View) => string = () => '',
): (view: View) => Promise<Page | GoTo> {
  return async (view) => {
    const { id, stack } = await view.api.get(webhookApiPath(view), webhookSchema);
    if (stack.account !== view.param('account') || stack.id !== view.param('stack')) {
      return { goTo: `${stackPath(stack.account, stack.id)}/settings/integrations/${id}${at(view)}` };
    }
    return render(view, await webhookFacts(view));
  };
}

export function webhookFrame(
  { stack, webhook, path }: WebhookFacts,
  {
    title,
    body,
    isBelow = true,
  }: { readonly title: Markup | string; readonly body: Markup; readonly isBelow?: boolean },
  more: Partial<Page> = {},
): Page {
  const stackAt = stackPath(stack.account, stack.id);
  const way = isBelow ? html` / <a class="mono" href="${path}">${webhook.endpoint}</a>` : '';
  return {
    title: `Webhook of ${stack.name}`,
    section: 'stacks',
    styles: ['settings.css'],
    ...more,
    body: html`<p class="crumbs"><a href="/">Stacks</a> / <a href="${stackAt}">${stack.name}</a> / <a href="${stackAt}/settings/integrations">Integrations</a>${way}</p>
<h1>${title}</h1>
${body}`,
  };
}

export const isAdmin = ({ role }: Stack): boolean => role === 'admin';
/** Resending and replaying need no more. */
export const isWriter = ({ role }: Stack): boolean => role !== 'reader';
