import type { EventFilter } from './webhook.ts';

export interface MissedQuery {
  readonly webhookId: string;
  readonly stackKey: string;
  readonly filter: EventFilter;
  readonly sinceMs: number;
  /** Counts so far and no further. */
  readonly limit: number;
}

/** What webhooks did not get. Reads see committed data. */
export interface MissedStore {
  /** State changes of its stack that the webhook wants and that were not delivered to it. */
  missed(query: MissedQuery): Promise<number>;
}
