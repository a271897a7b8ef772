import type { Tx } from '../tx.ts';

/** Requests to webhooks that people's policies want, beside those that tell of state changes. Implemented by webhooks. */
export interface PolicyRequests {
  /** Ids of the webhooks of a stack. */
  endpointsOf(stackKey: string): Promise<readonly string[]>;
  /** Why it cannot be sent: for people, without a full stop. Null: it can. Outside of any transaction. */
  refusalOf(request: PolicyRequest): Promise<string | null>;
  /** Only writes rows. Nothing comes of one to a webhook that is gone or disabled by now. */
  send(tx: Tx, request: PolicyRequest): Promise<void>;
}

export interface PolicyRequest {
  readonly webhookId: string;
  readonly stackKey: string;
  readonly runId: string;
  readonly stateVersion: number;
  readonly policy: { readonly id: string; readonly name: string };
  /** JSON. Left out: the body that tells of the state change. */
  readonly payload?: unknown;
  readonly headers: Readonly<Record<string, string>>;
}
