import type { webhookObject } from './api-objects.ts';
import { fields, table, time } from './output.ts';

/** Webhooks in words. */
type Webhook = ReturnType<typeof webhookObject.parse>;

export function listedWebhooks(webhooks: readonly Webhook[]): string {
  if (webhooks.length === 0) return 'No webhooks yet.';
  const rows = webhooks.map((webhook) => [webhook.id, webhook.endpoint, standing(webhook)]);
  return table(['WEBHOOK', 'ENDPOINT', ''], rows);
}

export function describedWebhook(webhook: Webhook): string {
  const { stack, health, missed, filter, oldSecrets = [] } = webhook;
  return fields([
    ['webhook', webhook.id],
    ['stack', stack && `${stack.account}/${stack.id}`],
    ['endpoint', webhook.endpoint],
    ['standing', standing(webhook)],
    ['since', webhook.disabledAt === undefined ? '' : time(webhook.disabledAt)],
    ['failed', failed(webhook)],
    ['given up', health?.exhausted ? `${health.exhausted} of its deliveries` : ''],
    ['last error', health?.lastError],
    ['paused', health?.pausedUntil === undefined ? '' : `until ${time(health.pausedUntil)}`],
    ['missed', missed === undefined ? '' : `${missed} state changes`],
    ['states', filter?.states?.join(', ') ?? 'all'],
    ['run types', filter?.runTypes?.join(', ') ?? 'all'],
    ['headers', Object.keys(webhook.headers ?? {}).join(', ')],
    // An answer to a change does not repeat the secret.
    ['secret', webhook.secret ?? (webhook.secretFingerprint ? '(set)' : '(none)')],
    ['fingerprint', webhook.secretFingerprint],
    ...oldSecrets.map(
      ({ fingerprint, until }) => ['old secret', `${fingerprint}, until ${time(until)}`] as const,
    ),
    ['created', time(webhook.createdAt)],
  ]);
}

function failed({ health }: Webhook): string {
  if (health?.failingSince === undefined) return '';
  return `${health.failedAttempts} attempts since ${time(health.failingSince)}`;
}

function standing({ enabled, disabledReason, health }: Webhook): string {
  if (enabled) return health?.failedAttempts ? 'enabled, but failing' : 'enabled';
  return disabledReason === undefined ? 'disabled' : `disabled: ${disabledReason}`;
}
