import type { PageRoutes } from '../../page-routes.ts';
import { addWebhook, newWebhookPage } from './add-webhook.ts';
import { deleteStack } from './delete-stack.ts';
import { deliveryPage } from './delivery.ts';
import { editWebhookPage, saveWebhook } from './edit-webhook.ts';
import { environmentPage, removeVariable, saveVariable } from './environment.ts';
import { generalPage, saveGeneral } from './general.ts';
import { hooksPage, saveHooks } from './hooks.ts';
import { integrationsPage } from './integrations.ts';
import { attachPolicy, detachPolicy, stackPoliciesPage } from './policies.ts';
import { cancelReplay, replay, replayPage } from './replay.ts';
import {
  deleteWebhook,
  endOverlap,
  regenerateSecret,
  resendDelivery,
  switchWebhook,
  webhookPage,
} from './webhook.ts';
import { testWebhook } from './webhook-test.ts';

/** The settings of a stack: its own, and its webhooks. */
export function addSettingsRoutes({ page, form }: PageRoutes): void {
  const settings = '/stacks/:account/:stack/settings';
  page(settings, generalPage);
  form(settings, saveGeneral);
  form(`${settings}/delete`, deleteStack);
  page(`${settings}/hooks`, hooksPage);
  form(`${settings}/hooks`, saveHooks);
  page(`${settings}/environment`, environmentPage);
  form(`${settings}/environment`, saveVariable);
  form(`${settings}/environment/remove`, removeVariable);
  page(`${settings}/policies`, stackPoliciesPage);
  form(`${settings}/policies`, attachPolicy);
  form(`${settings}/policies/detach`, detachPolicy);

  const integrations = `${settings}/integrations`;
  page(integrations, integrationsPage);
  form(integrations, addWebhook);
  page(`${integrations}/new`, newWebhookPage);

  const webhook = `${integrations}/:webhook`;
  page(webhook, webhookPage);
  page(`${webhook}/edit`, editWebhookPage);
  form(`${webhook}/edit`, saveWebhook);
  form(`${webhook}/enabled`, switchWebhook);
  form(`${webhook}/regenerate`, regenerateSecret);
  form(`${webhook}/end-overlap`, endOverlap);
  form(`${webhook}/test`, testWebhook);
  form(`${webhook}/delete`, deleteWebhook);
  form(`${webhook}/resend`, resendDelivery);
  page(`${webhook}/deliveries/:delivery`, deliveryPage);
  page(`${webhook}/replay`, replayPage);
  form(`${webhook}/replay`, replay);
  form(`${webhook}/cancel-replay`, cancelReplay);
}
