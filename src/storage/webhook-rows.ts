import type { Flag, Json } from './columns.ts';

// The tables of webhooks and of what they send; see schema.ts.

export interface WebhookRow {
  id: string;
  stack_key: string;
  endpoint: string;
  endpoint_key: string;
  enabled: Flag;
  /** Encrypted, like the next two. */
  secret: Uint8Array | null;
  /** JSON list of those that may still be used, newest first; null for none. */
  old_secrets: Uint8Array | null;
  /** JSON object of the headers added to each request; null for none. */
  headers: Uint8Array | null;
  /** Which state changes it wants. */
  filter: Json;
  disabled_reason: string | null;
  /** Null while it is enabled. */
  disabled_at_ms: number | null;
  created_at_ms: number;
  /** +1 with every change: caches of keys and sockets go by it. */
  version: number;
}

/** What failed since the last success. No row for a webhook that works. */
export interface WebhookHealthRow {
  webhook_id: string;
  failed_attempts: number;
  failing_since_ms: number;
  last_failed_at_ms: number;
  /** Deliveries given up. */
  exhausted: number;
  /** How many warnings were given. */
  warnings: number;
  /** Nothing is sent before: the receiver asked for it. */
  paused_until_ms: number | null;
  last_error: string;
}

/** The body of a state change, serialised once; webhooks, replays and the events API send these bytes. */
export interface PayloadRow {
  run_id: string;
  state_version: number;
  body: Uint8Array;
}

/** One state change for one webhook; resends and replays are further attempts of the same row. */
export interface DeliveryRow {
  id: string;
  webhook_id: string;
  run_id: string;
  /** Null: it is no state change that is told, but a request of a policy. */
  state_version: number | null;
  status: string;
  /** Claims so far; fences every result. */
  attempts: number;
  /** Attempts made before the present round of the schedule: a resend starts a new round. */
  earlier_attempts: number;
  /** How often in a row the receiver refused the signature: chooses the secret of the next attempt. */
  rejections: number;
  /** When something must be done about it: the next attempt, or the end of the lease. Null: nothing. */
  next_at_ms: number | null;
  /** Both not null from the claim to its result: the attempt that is under way has no row of its own yet. */
  lease_until_ms: number | null;
  started_at_ms: number | null;
  created_at_ms: number;
  /** The replay that sent it last. */
  replay_id: string | null;
}

/** What a notification policy sends beside the state changes. */
export interface PolicyRequestRow {
  delivery_id: string;
  /** Of the change that the policy judged. */
  state_version: number;
  policy_id: string;
  policy_name: string;
  /** Those of the policy; names in lower case. */
  headers: Json;
  body: Uint8Array;
}

export interface AttemptRow {
  delivery_id: string;
  number: number;
  started_at_ms: number;
  duration_ms: number | null;
  outcome: string;
  status_code: number | null;
  /** What kind of failure, one word. */
  error: string | null;
  /** The code behind it, e.g. ECONNREFUSED, or why the target was blocked. */
  detail: string | null;
  /** What went over the wire: headers, body, times, address. Null when there is nothing to tell. */
  exchange: Json | null;
}

/** State changes of a while that are sent to a webhook again, little by little. */
export interface ReplayRow {
  id: string;
  webhook_id: string;
  /** From then on. */
  since_ms: number;
  /** Before that. */
  until_ms: number;
  /** Null: every state. */
  state: string | null;
  failed_only: Flag;
  /** running, done or canceled */
  status: string;
  /** `seq` of the last state change that was looked at, and of the last there is to look at. */
  position: number;
  last: number;
  /** State changes that were found at the beginning, and those that are queued so far. */
  total: number;
  queued: number;
  created_at_ms: number;
  created_by: string;
  /** Null while it runs. */
  ended_at_ms: number | null;
}
