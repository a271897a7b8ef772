import type { Json } from './columns.ts';

// The tables of policies and of what they said; see schema.ts.

/** Rules of people. `account_id` null: of the instance. */
export interface PolicyRow {
  id: string;
  account_id: number | null;
  name: string;
  description: string;
  kind: string;
  labels: Json;
  rego_version: number;
  body: string;
  rules: Json;
  digest: string;
  version: number;
  created_at_ms: number;
  updated_at_ms: number;
  updated_by: string;
}

/** Every body that a policy had, the present one included. */
export interface PolicyVersionRow {
  policy_id: string;
  version: number;
  rego_version: number;
  body: string;
  rules: Json;
  digest: string;
  created_at_ms: number;
  created_by: string;
}

export interface PolicyAttachmentRow {
  stack_key: string;
  policy_id: string;
}

/** What a policy said about one thing. */
export interface PolicyDecisionRow {
  id: string;
  policy_id: string;
  policy_name: string;
  policy_version: number;
  policy_digest: string;
  kind: string;
  account_id: number | null;
  stack_key: string | null;
  run_id: string | null;
  subject: string;
  outcome: string;
  messages: Json;
  result: Json;
  failure: Json | null;
  input_digest: string;
  engine: string;
  duration_ms: number;
  at_ms: number;
}

/** The input of a decision, deflated and encrypted. `id` is that of the decision. */
export interface PolicySampleRow {
  id: string;
  policy_id: string;
  policy_version: number;
  account_id: number | null;
  kind: string;
  stack_key: string | null;
  run_id: string | null;
  subject: string;
  outcome: string;
  at_ms: number;
  input: Uint8Array;
}

/** Somebody lets these changes pass, although a plan policy denies them. */
export interface PolicyOverrideRow {
  id: string;
  stack_key: string;
  run_id: string;
  changes_digest: string;
  actor_key: string;
  actor_name: string;
  reason: string;
  at_ms: number;
}

/** A person approved or rejected a run that waits for approval policies. `changes_digest` is null before there is a plan. */
export interface RunReviewRow {
  id: string;
  run_id: string;
  stack_key: string;
  state: string;
  state_version: number;
  changes_digest: string | null;
  verdict: string;
  reviewer_key: string;
  reviewer_name: string;
  role: string;
  via: string;
  note: string | null;
  at_ms: number;
}

/** What approval policies said last of a run, and `judged`, which policies those were. */
export interface RunGateRow {
  run_id: string;
  state_version: number;
  outcome: string;
  judged: string;
  note: string | null;
  at_ms: number;
}

export interface RunFlagRow {
  run_id: string;
  policy_id: string;
  flag: string;
}

/** A run that a trigger policy started after another. */
export interface RunCauseRow {
  run_id: string;
  cause_run_id: string;
  workflow: string;
  depth: number;
  policy_id: string;
  policy_name: string;
}

/** A message of a notification policy. */
export interface NoticeRow {
  id: string;
  account_id: number;
  stack_key: string | null;
  run_id: string | null;
  policy_id: string | null;
  severity: string;
  title: string;
  body: string;
  at_ms: number;
}
