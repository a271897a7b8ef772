/** A webhook as lists show it: where the state changes of a stack are sent. */
export interface WebhookSummary {
  readonly id: string;
  readonly stackKey: string;
  /** As it was typed. */
  readonly endpoint: string;
  /** Normalised; requests go here. */
  readonly url: string;
  readonly enabled: boolean;
  /** Why the server disabled it; null when a person did, and while it is enabled. */
  readonly disabledReason: string | null;
  readonly createdAtMs: number;
  /** +1 with every change. */
  readonly version: number;
}

export interface Webhook extends WebhookSummary {
  /** Never "": that is no secret. */
  readonly secret: string | null;
}
