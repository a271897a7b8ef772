import type { z } from 'zod';
import type { DeliveryOutcome } from '../inbox-store.ts';

/**
 * One event, translated for one handler. `payload` is what GitHub sent, maybe long ago: every handler parses its
 * own part.
 */
export interface GithubEvent {
  readonly deliveryId: string;
  readonly payload: unknown;
}

/** Says what came of the event; a rejection means "try again later". Must bear to be called twice. */
export type EventHandler = (event: GithubEvent) => Promise<DeliveryOutcome>;

export const done = (note: string): DeliveryOutcome => ({ state: 'done', note });
export const ignored = (reason: string): DeliveryOutcome => ({ state: 'ignored', note: reason });

export const notSeen = (repository: { readonly full_name: string }): string =>
  `the App does not see ${repository.full_name} any more`;

/** The payload is not what GitHub documents: trying again cannot help, so it waits for a person. */
export function notUnderstood(error: z.ZodError): DeliveryOutcome {
  const [issue] = error.issues;
  const where = issue?.path.join('.') || 'the payload';
  return { state: 'failed', note: `payload not understood: ${where}: ${issue?.message ?? 'not valid'}` };
}
