import type { Generated } from 'kysely';
import type { AuditTableRow, IdempotencyRow, SessionRow, TokenRow } from './access-rows.ts';
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
import type {
  NoticeRow,
  PolicyAttachmentRow,
  PolicyDecisionRow,
  PolicyOverrideRow,
  PolicyRow,
  PolicySampleRow,
  PolicyVersionRow,
  RunCauseRow,
  RunFlagRow,
  RunGateRow,
  RunReviewRow,
} from './policy-rows.ts';
import type {
  AttemptRow,
  DeliveryRow,
  PayloadRow,
  PolicyRequestRow,
  ReplayRow,
  WebhookHealthRow,
  WebhookRow,
} from './webhook-rows.ts';

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
  policy_request: PolicyRequestRow;
  attempt: AttemptRow;
  replay: ReplayRow;
  canary: CanaryRow;
  backup: BackupRow;
  token: TokenRow;
  session: SessionRow;
  audit: AuditTableRow;
  idempotency: IdempotencyRow;
  policy: PolicyRow;
  policy_version: PolicyVersionRow;
  policy_attachment: PolicyAttachmentRow;
  policy_decision: PolicyDecisionRow;
  policy_sample: PolicySampleRow;
  policy_override: PolicyOverrideRow;
  run_review: RunReviewRow;
  run_gate: RunGateRow;
  run_flag: RunFlagRow;
  run_cause: RunCauseRow;
  notice: NoticeRow;
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
  trouble: Json | null;
  command: string | null;
  plan_digest: string | null;
  plan_likeness: string | null;
  /** Of the commit and of all that the plan shows: what an approval or an override was given for. */
  changes_digest: string | null;
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
  /** What policies see instead of the steps: deflated and encrypted like them, see document-text.ts; null without one. */
  document: Uint8Array | null;
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
