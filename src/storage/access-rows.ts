import type { Generated } from 'kysely';
import type { Json } from './columns.ts';

// The tables of who may ask, and of what was asked; see schema.ts.

export interface TokenRow {
  id: string;
  name: string;
  role: string;
  account: string | null;
  /** SHA-256 of the token, hex. The token itself is not stored. */
  hash: string;
  created_at_ms: number;
  created_by: string;
  expires_at_ms: number | null;
  last_used_at_ms: number | null;
}

/** Somebody who is logged in to the UI. */
export interface SessionRow {
  id: string;
  /** SHA-256 of the session's token, hex. The token itself is not stored. */
  hash: string;
  /** GitHub's id of the person. */
  user_id: number;
  login: string;
  email: string;
  user_agent: string;
  created_at_ms: number;
  last_used_at_ms: number;
  /** What login policies said, where there are any. */
  grants: Json | null;
}

export interface AuditTableRow {
  seq: Generated<number>;
  at_ms: number;
  actor_kind: string;
  actor_key: string;
  actor_name: string;
  via: string;
  address: string | null;
  forwarded_for: string | null;
  operation: string;
  params: Json;
  repository_id: number | null;
  account: string | null;
  stack: string | null;
  run_id: string | null;
  outcome: string;
  status: number | null;
  note: string | null;
}

export interface IdempotencyRow {
  actor_key: string;
  /** SHA-256, hex. */
  key: string;
  /** Sealed: what was asked and answered. */
  kept: Uint8Array;
  at_ms: number;
}
