import type { Actor, Role } from '../../access/actor.ts';
import { type Access, includesRole } from '../../access/roles.ts';
import type { Stack } from '../../stacks/stack.ts';
import type { Webhooks } from '../../webhooks/endpoint.ts';
import { notFound } from '../problem.ts';
import type { Guard } from './guard.ts';

/** How a route gets at what hangs on a webhook: as guard.ts has it for stacks and runs. */
export interface WebhookGuard {
  stackOf(actor: Actor, webhookId: string, needed: Role): Promise<Stack>;
  isAdmin(actor: Actor, stack: Stack): Promise<boolean>;
}

export function createWebhookGuard(parts: {
  readonly guard: Guard;
  readonly access: Access;
  readonly webhooks: Pick<Webhooks, 'find'>;
}): WebhookGuard {
  const { guard, access, webhooks } = parts;
  return {
    async stackOf(actor, webhookId, needed) {
      const webhook = await webhooks.find(webhookId);
      if (!webhook) throw notFound();
      return guard.stackByKey(actor, webhook.stackKey, needed);
    },
    async isAdmin(actor, stack) {
      const role = await access.require(actor, stack, 'reader');
      return role !== null && includesRole(role, 'admin');
    },
  };
}
