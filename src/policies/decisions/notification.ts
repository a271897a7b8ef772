import type { z } from 'zod';
import type { Judgement } from '../judgement.ts';
import {
  type InboxMessage,
  notificationObjects,
  type PullRequestMessage,
  type WebhookMessage,
} from '../notification-objects.ts';
import type { Policy } from '../policy.ts';
import { itemsOf } from '../rule-values.ts';
import { failedOnes, inOrder } from './judgements.ts';

export type NotificationOutcome = 'notified' | 'nothing';

/** What one policy sends. */
export function notificationOf(said: Pick<Judgement, 'values'>): {
  outcome: NotificationOutcome;
  messages: readonly string[];
} {
  const counts = Object.keys(notificationObjects).map((rule) => [rule, itemsOf(said, rule).length] as const);
  const messages = counts.filter(([, count]) => count > 0).map(([rule, count]) => `${rule}: ${count}`);
  return { outcome: messages.length > 0 ? 'notified' : 'nothing', messages };
}

/** A message and who wants it sent; of several policies that want the same, the first by name. */
export interface Wanted<Message> {
  readonly message: Message;
  readonly policy: Policy;
}

export interface NotificationDecision {
  readonly inbox: readonly Wanted<InboxMessage>[];
  readonly webhook: readonly Wanted<WebhookMessage>[];
  readonly pullRequest: readonly Wanted<PullRequestMessage>[];
  /** They send nothing; somebody is to be told. */
  readonly failed: readonly Judgement[];
}

export function combineNotification(judgements: readonly Judgement[]): NotificationDecision {
  const ordered = inOrder(judgements);
  return {
    inbox: wantedBy(ordered, 'inbox', notificationObjects.inbox),
    webhook: wantedBy(ordered, 'webhook', notificationObjects.webhook),
    pullRequest: wantedBy(ordered, 'pull_request', notificationObjects.pull_request),
    failed: failedOnes(judgements),
  };
}

function wantedBy<Message>(
  judgements: readonly Judgement[],
  rule: string,
  schema: z.ZodType<Message>,
): readonly Wanted<Message>[] {
  const wanted = new Map<string, Wanted<Message>>();
  for (const judgement of judgements) {
    for (const item of itemsOf(judgement, rule)) {
      // The engine sorts keys: the same message is the same text.
      const key = JSON.stringify(item);
      if (!wanted.has(key)) wanted.set(key, { message: schema.parse(item), policy: judgement.policy });
    }
  }
  return [...wanted.keys()].toSorted().flatMap((key) => wanted.get(key) ?? []);
}
