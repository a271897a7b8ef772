import type { Generated } from 'kysely';
import type { Flag, Json } from './columns.ts';
import type {
  AnsweredCommentRow,
  BranchHeadRow,
  DeliveryListRow,
  InboxRow,
  LostDeliveryRow,
  OutboxItemRow,
  RepositoryFileRow,
} from './github-rows.ts';

/** The tables, as the queries see them. Keep equal to migrations/: test/storage/schema.test.ts compares them. */
export interface Schema {
  account: AccountRow;
  repository: RepositoryRow;
  stack: StackRow;
  stack_variable: StackVariableRow;
  run: RunRow;
  stack_summary: StackSummaryRow;
  run_event: RunEventRow;
  removed_event: RemovedEventRow;
  run_command: RunCommandRow;
  run_box: RunBoxRow;
  run_plan: RunPlanRow;
  plan_seen: PlanSeenRow;
  job: JobRow;
  inbox: InboxRow;
  delivery_list: DeliveryListRow;
  lost_delivery: LostDeliveryRow;
  outbox_item: OutboxItemRow;
  branch_head: BranchHeadRow;
  answered_comment: AnsweredCommentRow;
  repository_file: RepositoryFileRow;
  webhook: WebhookRow;
  webhook_health: WebhookHealthRow;
  payload: PayloadRow;
  delivery: DeliveryRow;
  attempt: AttemptRow;
  replay: ReplayRow;
  canary: CanaryRow;
  backup: BackupRow;
  token: TokenRow;
  session: SessionRow;
  audit: AuditTableRow;
  idempotency: IdempotencyRow;
}

export interface AccountRow {
  id: number;
  login: string;
  installation_id: number | null;
  suspended: Flag;
}

export interface RepositoryRow {
  id: number;
  account_id: number;
  installation_id: number;
  full_name: string;
  default_branch: string;
  is_private: Flag;
  /** 1 once the App lost access; its stacks stay. */
  removed: Flag;
  /** 1: nothing can be reported there. */
  archived: Flag;
  /** 1: something said that the repository file is another, and it was not read since. */
  file_unread: Flag;
}

export interface StackRow {
  key: string;
  account_id: number;
  id: string;
  repository_id: number;
  settings: Json;
  lock: Json | null;
  /** file: the repository file decides. */
  managed_by: string | null;
  created_at_ms: number;
}

export interface StackVariableRow {
  stack_key: string;
  name: string;
  secret: Flag;
  access: string;
  /** Encrypted, whether secret or not. */
  value: Uint8Array;
  managed_by: string | null;
}

export interface RunRow {
  id: string;
  stack_key: string;
  type: string;
  state: string;
  state_version: number;
  branch: string;
  commit_hash: string;
  commit: Json;
  pull_request: Json | null;
  /** Of `pull_request`, to be found by. */
  pull_request_number: number | null;
  /** 1: it gets no secrets. */
  untrusted: Flag;
  created_at_ms: number;
  triggered_by: string;
  started_by: string;
  delta: Json | null;
  note: string | null;
  outcome: string | null;
  command: string | null;
  plan_digest: string | null;
  plan_likeness: string | null;
  restarts: number;
  had_worker: Flag;
  renewed: Flag;
  priority: number;
  /** 1 once its log was removed for its age. */
  log_removed: Flag;
  /** What started it, e.g. a delivery's id: one run of a stack for each. */
  dedupe_key: string;
}

/** Of the run that says where the stack stands. */
export interface StackSummaryRow {
  stack_key: string;
  run_id: string;
  type: string;
  state: string;
  since_ms: number;
  commit_hash: string;
  subject: string;
  author_name: string;
  triggered_by: string;
  delta: Json | null;
  note: string | null;
  queued: number;
}

export interface RunEventRow {
  /** Order of commits over all runs; the cursor of /api/v1/events. */
  seq: Generated<number>;
  run_id: string;
  state_version: number;
  state: string;
  timestamp_ms: number;
  actor: string;
  note: string | null;
}

/** The newest state change that was removed for its age: whoever has not read so far has missed some. */
export interface RemovedEventRow {
  id: number;
  seq: number;
}

export interface RunCommandRow {
  run_id: string;
  ordinal: number;
  phase: string;
  label: string;
  argv: Json;
  started_at_ms: number;
  duration_ms: number;
  exit_code: number | null;
}

/** What the run was frozen with and what its hooks exported: encrypted JSON, gone when the run ends. */
export interface RunBoxRow {
  run_id: string;
  box: Uint8Array;
}

export interface RunPlanRow {
  run_id: string;
  /** Deflated JSON of the marks and steps, a line each, encrypted: a plan may hold what the tool did not mark as secret. */
  steps: Uint8Array;
  has_changes: Flag;
  /** The tool's plan file, encrypted; null when none was saved, and once the run ended. */
  file: Uint8Array | null;
}

/** A person looked at the plan of a run. */
export interface PlanSeenRow {
  person: string;
  stack_key: string;
  run_id: string;
  /** Of the plan's changes. */
  digest: string;
  seen_at_ms: number;
}

export interface JobRow {
  id: string;
  queue: string;
  /** At most one unfinished job of a queue has a key. */
  key: string;
  priority: number;
  run_at_ms: number;
  data: Json;
  /** Counts claims; fences every report. */
  attempt: number;
  lease_until_ms: number | null;
  created_at_ms: number;
}

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
  state_version: number;
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

/** Tells whether the secret key is the one this database was made with. */
export interface CanaryRow {
  id: number;
  box: Uint8Array;
}

/** At most one row, and only in a copy: taken out by the first start on it. */
export interface BackupRow {
  id: number;
  taken_at_ms: number;
}

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
