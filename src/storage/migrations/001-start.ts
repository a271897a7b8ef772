/** The tables of the first release. Partial indexes carry rules that code alone could get wrong. */
export const sql = `
create table account (
  id integer primary key,
  login text not null,
  installation_id integer,
  suspended integer not null default 0
) strict;

create table repository (
  id integer primary key,
  account_id integer not null references account (id),
  installation_id integer not null,
  full_name text not null,
  default_branch text not null,
  is_private integer not null,
  removed integer not null default 0,
  archived integer not null default 0,
  file_unread integer not null default 0
) strict;
create index repository_full_name on repository (full_name);

create table stack (
  key text primary key,
  account_id integer not null references account (id),
  id text not null,
  repository_id integer not null references repository (id),
  settings text not null,
  lock text,
  managed_by text,
  created_at_ms integer not null,
  unique (account_id, id)
) strict;
create index stack_repository on stack (repository_id);

create table stack_variable (
  stack_key text not null references stack (key) on delete cascade,
  name text not null,
  secret integer not null,
  access text not null,
  value blob not null,
  managed_by text,
  primary key (stack_key, name)
) strict, without rowid;

create table run (
  id text primary key,
  stack_key text not null references stack (key) on delete cascade,
  type text not null,
  state text not null,
  state_version integer not null,
  branch text not null,
  commit_hash text not null,
  "commit" text not null,
  pull_request text,
  pull_request_number integer,
  untrusted integer not null default 0,
  created_at_ms integer not null,
  triggered_by text not null,
  started_by text not null,
  delta text,
  note text,
  outcome text,
  trouble text,
  command text,
  plan_digest text,
  plan_likeness text,
  changes_digest text,
  restarts integer not null default 0,
  had_worker integer not null default 0,
  renewed integer not null default 0,
  priority integer not null default 0,
  log_removed integer not null default 0,
  dedupe_key text not null,
  unique (stack_key, dedupe_key)
) strict;
create index run_of_stack on run (stack_key, id);
-- With the type: a tie with the next index would be read as "all runs of the type".
create index run_of_commit on run (stack_key, commit_hash, type, id);
create index run_of_type on run (stack_key, type, id);
create index run_of_branch on run (stack_key, branch, id);
create index run_of_pull_request on run (stack_key, pull_request_number, id)
  where pull_request_number is not null;
-- What is not over is little; what is over grows for years.
create index run_unfinished on run (stack_key, id)
  where state not in ('FINISHED', 'FAILED', 'STOPPED', 'DISCARDED', 'CANCELED');
create index run_queued on run (stack_key, priority desc, id) where state = 'QUEUED';
create index run_in_state on run (state, id)
  where state not in ('FINISHED', 'FAILED', 'STOPPED', 'DISCARDED', 'CANCELED');
-- What lists of all runs walk along, newest first.
create index run_over on run (state, id)
  where state in ('FINISHED', 'FAILED', 'STOPPED', 'DISCARDED', 'CANCELED');
create index run_in_branch on run (branch, id);
create index run_by_hand on run (type, id) where type in ('TASK', 'DESTROY');
-- What retention walks along.
create index run_with_log on run (id) where had_worker = 1 and log_removed = 0;
-- The stack mutex: the scheduler makes it fair, this makes it certain.
create unique index run_one_blocking on run (stack_key)
  where type in ('TRACKED', 'TASK', 'DESTROY')
    and state not in ('QUEUED', 'FINISHED', 'FAILED', 'STOPPED', 'DISCARDED', 'CANCELED');

-- What lists show of a stack; written with each change of its runs. No row: it has no blocking run.
create table stack_summary (
  stack_key text primary key references stack (key) on delete cascade,
  run_id text not null,
  type text not null,
  state text not null,
  since_ms integer not null,
  commit_hash text not null,
  subject text not null,
  author_name text not null,
  triggered_by text not null,
  delta text,
  note text,
  queued integer not null
) strict, without rowid;

create table run_event (
  seq integer primary key autoincrement,
  run_id text not null references run (id) on delete cascade,
  state_version integer not null,
  state text not null,
  timestamp_ms integer not null,
  actor text not null,
  note text,
  unique (run_id, state_version)
) strict;

-- One row at most: up to where retention has removed state changes.
create table removed_event (
  id integer primary key check (id = 1),
  seq integer not null
) strict;

create table run_command (
  run_id text not null references run (id) on delete cascade,
  ordinal integer not null,
  phase text not null,
  label text not null,
  argv text not null,
  started_at_ms integer not null,
  duration_ms integer not null,
  exit_code integer,
  primary key (run_id, ordinal)
) strict, without rowid;

create table run_box (
  run_id text primary key references run (id) on delete cascade,
  box blob not null
) strict;

create table run_plan (
  run_id text primary key references run (id) on delete cascade,
  steps blob not null,
  document blob,
  has_changes integer not null,
  file blob
) strict;

create table plan_seen (
  person text not null,
  stack_key text not null references stack (key) on delete cascade,
  run_id text not null references run (id) on delete cascade,
  digest text not null,
  seen_at_ms integer not null,
  primary key (person, stack_key, run_id)
) strict, without rowid;
-- Without them, what hangs on a run or stack that is deleted is searched for in all of them.
create index plan_seen_of_run on plan_seen (run_id);
create index plan_seen_of_stack on plan_seen (stack_key);

create table job (
  id text primary key,
  queue text not null,
  key text not null,
  priority integer not null,
  run_at_ms integer not null,
  data text not null,
  attempt integer not null default 0,
  lease_until_ms integer,
  created_at_ms integer not null,
  unique (queue, key)
) strict;
create index job_due on job (queue, priority desc, id) where lease_until_ms is null;

create table inbox (
  seq integer primary key autoincrement,
  delivery_id text not null unique,
  event text not null,
  lane text not null,
  received_at_ms integer not null,
  state text not null,
  attempts integer not null default 0,
  next_at_ms integer not null,
  note text,
  -- The last column: what stands behind a large value is slow to read.
  body blob
) strict;
create index inbox_due on inbox (next_at_ms) where state = 'pending';
create index inbox_pending on inbox (seq) where state = 'pending';
create index inbox_failed on inbox (seq) where state = 'failed';
create index inbox_body on inbox (received_at_ms) where body is not null;
create index inbox_age on inbox (received_at_ms);

-- GitHub's list of deliveries: up to where it was read.
create table delivery_list (
  id integer primary key check (id = 1),
  read_until_ms integer not null
) strict;

create table lost_delivery (
  guid text primary key,
  delivery_id integer not null,
  event text not null,
  repository_id integer,
  delivered_at_ms integer not null,
  asks integer not null default 0,
  next_at_ms integer not null,
  state text not null
) strict;
create index lost_delivery_waiting on lost_delivery (next_at_ms) where state = 'waiting';

create table outbox_item (
  id text primary key,
  kind text not null,
  run_id text references run (id) on delete cascade,
  repository_id integer not null,
  lane text not null,
  slot text unique,
  remote_id integer,
  create_tried integer not null default 0,
  desired text not null,
  notes text not null default '[]',
  desired_version integer not null,
  settled_version integer not null default 0,
  attempts integer not null default 0,
  next_at_ms integer not null,
  last_error text
) strict;
create index outbox_item_due on outbox_item (next_at_ms) where settled_version < desired_version;
-- Without it, a run that is deleted is searched for in all of them.
create index outbox_item_of_run on outbox_item (run_id) where run_id is not null;
create index outbox_item_of_none on outbox_item (next_at_ms) where run_id is null and slot is null;

-- Where each branch that a stack follows was when all that follows from it was decided.
create table branch_head (
  repository_id integer not null references repository (id),
  branch text not null,
  hash text,
  seen_at_ms integer not null,
  primary key (repository_id, branch)
) strict, without rowid;

-- A comment acts once.
create table answered_comment (
  comment_id integer primary key,
  answered_at_ms integer not null
) strict;
create index answered_comment_age on answered_comment (answered_at_ms);

create table repository_file (
  repository_id integer primary key references repository (id),
  commit_hash text not null,
  blob_hash text not null,
  problems text not null
) strict;

create table webhook (
  id text primary key,
  stack_key text not null references stack (key) on delete cascade,
  endpoint text not null,
  endpoint_key text not null,
  enabled integer not null default 1,
  secret blob,
  old_secrets blob,
  headers blob,
  filter text not null,
  disabled_reason text,
  disabled_at_ms integer,
  created_at_ms integer not null,
  version integer not null default 1,
  unique (stack_key, endpoint_key)
) strict;

-- No row: its last attempt was a success, or there was none.
create table webhook_health (
  webhook_id text primary key references webhook (id) on delete cascade,
  failed_attempts integer not null,
  failing_since_ms integer not null,
  last_failed_at_ms integer not null,
  exhausted integer not null,
  warnings integer not null,
  paused_until_ms integer,
  last_error text not null
) strict, without rowid;

create table payload (
  run_id text not null references run (id) on delete cascade,
  state_version integer not null,
  body blob not null,
  primary key (run_id, state_version)
) strict, without rowid;

-- Without a state_version it tells of no state change: policy_request has what it says.
create table delivery (
  id text primary key,
  webhook_id text not null references webhook (id) on delete cascade,
  run_id text not null references run (id) on delete cascade,
  state_version integer,
  status text not null,
  attempts integer not null default 0,
  earlier_attempts integer not null default 0,
  rejections integer not null default 0,
  next_at_ms integer,
  lease_until_ms integer,
  started_at_ms integer,
  created_at_ms integer not null,
  replay_id text,
  unique (webhook_id, run_id, state_version)
) strict;
-- The pump walks from one endpoint with work to the next, however long the queue of each is.
create index delivery_due_of_webhook on delivery (webhook_id, next_at_ms, id) where next_at_ms is not null;
create index delivery_leased on delivery (webhook_id, lease_until_ms) where lease_until_ms is not null;
create index delivery_of_webhook on delivery (webhook_id, id);
create index delivery_of_run on delivery (run_id);
-- How much of a replay is on its way decides when more is put there.
create index delivery_of_replay on delivery (replay_id, status) where replay_id is not null;

-- What a notification policy sends.
create table policy_request (
  delivery_id text primary key references delivery (id) on delete cascade,
  state_version integer not null,
  policy_id text not null,
  policy_name text not null,
  headers text not null,
  -- The last column: what stands behind a large value is slow to read.
  body blob not null
) strict;

create table attempt (
  delivery_id text not null references delivery (id) on delete cascade,
  number integer not null,
  started_at_ms integer not null,
  duration_ms integer,
  outcome text not null,
  status_code integer,
  error text,
  detail text,
  -- The last column: what stands behind a large value is slow to read.
  exchange text,
  primary key (delivery_id, number)
) strict, without rowid;

create table replay (
  id text primary key,
  webhook_id text not null references webhook (id) on delete cascade,
  since_ms integer not null,
  until_ms integer not null,
  state text,
  failed_only integer not null,
  status text not null,
  position integer not null,
  last integer not null,
  total integer not null,
  queued integer not null default 0,
  created_at_ms integer not null,
  created_by text not null,
  ended_at_ms integer
) strict;
-- One at a time for a webhook.
create unique index replay_running on replay (webhook_id) where status = 'running';
create index replay_of_webhook on replay (webhook_id, id);

-- One sealed row: a start with another key is refused, instead of every run failing later.
create table canary (
  id integer primary key check (id = 1),
  box blob not null
) strict;

-- One row in every backup: a server that starts on it knows that time has passed since.
create table backup (
  id integer primary key check (id = 1),
  taken_at_ms integer not null
) strict;

create table token (
  id text primary key,
  name text not null,
  role text not null,
  account text,
  hash text not null unique,
  created_at_ms integer not null,
  created_by text not null,
  expires_at_ms integer,
  last_used_at_ms integer
) strict;

create table session (
  id text primary key,
  hash text not null unique,
  user_id integer not null,
  login text not null,
  email text not null,
  user_agent text not null,
  created_at_ms integer not null,
  last_used_at_ms integer not null,
  grants text
) strict;
create index session_of_user on session (user_id);

-- Without references: it tells of what is gone, too.
create table audit (
  seq integer primary key autoincrement,
  at_ms integer not null,
  actor_kind text not null,
  actor_key text not null,
  actor_name text not null,
  via text not null,
  address text,
  forwarded_for text,
  operation text not null,
  params text not null,
  repository_id integer,
  account text,
  stack text,
  run_id text,
  outcome text not null,
  status integer,
  note text
) strict;
create index audit_at on audit (at_ms);
create index audit_of_account on audit (lower(account), seq);
create index audit_of_stack on audit (stack, seq);
create index audit_of_actor on audit (lower(actor_name), seq);
create index audit_of_actor_key on audit (lower(actor_key), seq);

create table idempotency (
  actor_key text not null,
  key text not null,
  kept blob not null,
  at_ms integer not null,
  primary key (actor_key, key)
) strict, without rowid;
create index idempotency_at on idempotency (at_ms);

create table policy (
  id text primary key,
  account_id integer references account (id),
  name text not null,
  description text not null,
  kind text not null,
  labels text not null,
  rego_version integer not null,
  body text not null,
  rules text not null,
  digest text not null,
  version integer not null,
  created_at_ms integer not null,
  updated_at_ms integer not null,
  updated_by text not null
) strict;
create unique index policy_name on policy (ifnull(account_id, 0), lower(name));
create index policy_of_kind on policy (account_id, kind, id);

create table policy_version (
  policy_id text not null references policy (id) on delete cascade,
  version integer not null,
  rego_version integer not null,
  body text not null,
  rules text not null,
  digest text not null,
  created_at_ms integer not null,
  created_by text not null,
  primary key (policy_id, version)
) strict;

create table policy_attachment (
  stack_key text not null references stack (key) on delete cascade,
  policy_id text not null references policy (id) on delete cascade,
  primary key (stack_key, policy_id)
) strict, without rowid;
create index policy_attachment_of_policy on policy_attachment (policy_id);

-- Without a reference to the policy: it tells of what is gone, too.
create table policy_decision (
  id text primary key,
  policy_id text not null,
  policy_name text not null,
  policy_version integer not null,
  policy_digest text not null,
  kind text not null,
  account_id integer,
  stack_key text references stack (key) on delete cascade,
  run_id text references run (id) on delete cascade,
  subject text not null,
  outcome text not null,
  messages text not null,
  result text not null,
  failure text,
  input_digest text not null,
  engine text not null,
  duration_ms integer not null,
  at_ms integer not null
) strict;
create index policy_decision_of_run on policy_decision (run_id, id) where run_id is not null;
create index policy_decision_of_stack on policy_decision (stack_key, id) where stack_key is not null;
create index policy_decision_of_policy on policy_decision (policy_id, id);
create index policy_decision_at on policy_decision (at_ms) where run_id is null;

create table policy_sample (
  id text primary key,
  policy_id text not null references policy (id) on delete cascade,
  policy_version integer not null,
  account_id integer,
  kind text not null,
  stack_key text references stack (key) on delete cascade,
  run_id text references run (id) on delete cascade,
  subject text not null,
  outcome text not null,
  at_ms integer not null,
  -- The last column: what stands behind a large value is slow to read.
  input blob not null
) strict;
create index policy_sample_of_policy on policy_sample (policy_id, id);
create index policy_sample_of_account on policy_sample (account_id, id);
create index policy_sample_of_stack on policy_sample (stack_key) where stack_key is not null;
create index policy_sample_of_run on policy_sample (run_id) where run_id is not null;
create index policy_sample_at on policy_sample (at_ms);

create table policy_override (
  id text primary key,
  stack_key text not null references stack (key) on delete cascade,
  run_id text not null references run (id) on delete cascade,
  changes_digest text not null,
  actor_key text not null,
  actor_name text not null,
  reason text not null,
  at_ms integer not null
) strict;
create index policy_override_of_changes on policy_override (stack_key, changes_digest);
create index policy_override_of_run on policy_override (run_id);

-- What people said to a run that waits for approval policies.
create table run_review (
  id text primary key,
  run_id text not null references run (id) on delete cascade,
  stack_key text not null references stack (key) on delete cascade,
  state text not null,
  state_version integer not null,
  changes_digest text,
  verdict text not null,
  reviewer_key text not null,
  reviewer_name text not null,
  role text not null,
  via text not null,
  note text,
  at_ms integer not null
) strict;
create index run_review_of_run on run_review (run_id, id);
create index run_review_of_changes on run_review (stack_key, changes_digest, id);

-- What approval policies said last of a run that waits.
create table run_gate (
  run_id text primary key references run (id) on delete cascade,
  state_version integer not null,
  outcome text not null,
  judged text not null,
  note text,
  at_ms integer not null
) strict, without rowid;

create table run_flag (
  run_id text not null references run (id) on delete cascade,
  policy_id text not null,
  flag text not null,
  primary key (run_id, policy_id, flag)
) strict, without rowid;

-- Which run a trigger policy started a run after. Without references: it tells of what is gone, too.
create table run_cause (
  run_id text primary key references run (id) on delete cascade,
  cause_run_id text not null,
  workflow text not null,
  depth integer not null,
  policy_id text not null,
  policy_name text not null
) strict, without rowid;
create index run_cause_of_workflow on run_cause (workflow, run_id);

-- Messages of notification policies.
create table notice (
  id text primary key,
  account_id integer not null references account (id),
  stack_key text references stack (key) on delete cascade,
  run_id text references run (id) on delete cascade,
  policy_id text,
  severity text not null,
  title text not null,
  body text not null,
  at_ms integer not null
) strict;
create index notice_of_account on notice (account_id, id);
create index notice_of_stack on notice (stack_key) where stack_key is not null;
create index notice_of_run on notice (run_id) where run_id is not null;
create index notice_at on notice (at_ms);
`;
