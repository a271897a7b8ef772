import type { Generated } from 'kysely';
import type { Flag, Json } from './columns.ts';

/** The tables of what is heard from GitHub and told to it; see schema.ts. */
export interface InboxRow {
  /** Order of arrival. */
  seq: Generated<number>;
  delivery_id: string;
  event: string;
  /** Deliveries of one lane are handled one at a time. */
  lane: string;
  received_at_ms: number;
  /** pending, done, ignored or failed */
  state: string;
  attempts: number;
  next_at_ms: number;
  /** Why nothing was done, or what went wrong last. */
  note: string | null;
  /** Null once it was dropped for its age; the id stays longer, so that a redelivery does nothing. */
  body: Uint8Array | null;
}

/** One row at most. */
export interface DeliveryListRow {
  id: number;
  /** By GitHub's clock: what it delivered before that was compared with the inbox. */
  read_until_ms: number;
}

/** A delivery of GitHub's that is not in the inbox. */
export interface LostDeliveryRow {
  guid: string;
  /** GitHub's id of one attempt to deliver it: what is asked for by this comes with the guid. */
  delivery_id: number;
  event: string;
  /** Null: it is about no repository. */
  repository_id: number | null;
  /** When GitHub tried last that we know of. */
  delivered_at_ms: number;
  /** How often it was asked for. */
  asks: number;
  next_at_ms: number;
  /** waiting, or given_up */
  state: string;
}

/** What GitHub should show: the newest wish about each thing. */
export interface OutboxItemRow {
  /** Of the check run of a run: the run's id. */
  id: string;
  /** check_run, comment, reaction or deployment */
  kind: string;
  run_id: string | null;
  repository_id: number;
  /** One request at a time in a lane. */
  lane: string;
  /** At most one item has it. */
  slot: string | null;
  /** GitHub's id, once known. */
  remote_id: number | null;
  /** 1 before the first create is sent: its answer may be lost, so GitHub is searched before another. */
  create_tried: Flag;
  /** What GitHub should show, but for what is read again when it is sent, and for the notes. */
  desired: Json;
  /** List of what came of the run besides its states: key and text. */
  notes: Json;
  desired_version: number;
  /** The version that needs nothing more: it was sent, or given up (then `last_error` says why). */
  settled_version: number;
  attempts: number;
  next_at_ms: number;
  last_error: string | null;
}

export interface BranchHeadRow {
  repository_id: number;
  branch: string;
  /** Null: there was no such branch. */
  hash: string | null;
  seen_at_ms: number;
}

/** A comment whose command was answered: it acts once. */
export interface AnsweredCommentRow {
  /** GitHub's. */
  comment_id: number;
  answered_at_ms: number;
}

/** The repository file as it was judged last; no row where there is none. */
export interface RepositoryFileRow {
  repository_id: number;
  commit_hash: string;
  blob_hash: string;
  /** Empty list: it is in force. */
  problems: Json;
}
