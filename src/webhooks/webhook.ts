import type { RunState, RunType } from '../runs/run.ts';

/** A webhook as lists show it: where the state changes of a stack are sent. */
export interface WebhookSummary {
  readonly id: string;
  readonly stackKey: string;
  /** As it was typed. */
  readonly endpoint: string;
  /** Normalised; requests go here. */
  readonly url: string;
  readonly enabled: boolean;
  readonly filter: EventFilter;
  /** Of the headers added to each request; in lower case. */
  readonly headerNames: readonly string[];
  /** Why the server disabled it; null when a person did, and while it is enabled. */
  readonly disabledReason: string | null;
  /** Null while it is enabled. */
  readonly disabledAtMs: number | null;
  readonly createdAtMs: number;
  /** +1 with every change. */
  readonly version: number;
}

export interface Webhook extends WebhookSummary {
  /** Never "": that is no secret. */
  readonly secret: string | null;
  /** Replaced, but receivers may still expect them; newest first. */
  readonly oldSecrets: readonly OldSecret[];
  /** Added to each request; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface OldSecret {
  readonly secret: string;
  /** Not used from then on. */
  readonly untilMs: number;
}

/** Which state changes a webhook wants; null: all. */
export interface EventFilter {
  readonly states: readonly RunState[] | null;
  readonly runTypes: readonly RunType[] | null;
}

export const everyEvent: EventFilter = { states: null, runTypes: null };

export function wants(
  filter: EventFilter,
  run: { readonly state: RunState; readonly type: RunType },
): boolean {
  const isListed = <T>(list: readonly T[] | null, value: T) => list === null || list.includes(value);
  return isListed(filter.states, run.state) && isListed(filter.runTypes, run.type);
}
