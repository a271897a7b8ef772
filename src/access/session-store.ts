import type { Tx } from '../tx.ts';
import type { Grants } from './actor.ts';

export interface SessionRecord {
  readonly id: string;
  /** GitHub's numeric id: logins change hands. */
  readonly userId: number;
  readonly login: string;
  readonly email: string;
  /** What the browser says of itself, for people who look at their sessions. */
  readonly userAgent: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number;
  /** Null: what GitHub says is all. */
  readonly grants: Grants | null;
}

export interface SessionStore {
  /** `hash` is the SHA-256 of the session's token, hex. */
  insert(tx: Tx, session: SessionRecord & { readonly hash: string }): Promise<void>;
  findByHash(hash: string): Promise<SessionRecord | null>;
  /** Of one person, the newest first. */
  listOf(userId: number): Promise<readonly SessionRecord[]>;
  setUsed(tx: Tx, id: string, atMs: number): Promise<void>;
  removeByHash(tx: Tx, hash: string): Promise<void>;
  /** False when that person had none of that id. */
  remove(tx: Tx, userId: number, id: string): Promise<boolean>;
  /** How many there were. */
  removeAllOf(tx: Tx, userId: number): Promise<number>;
  /** All but that one, null for all; how many there were. */
  removeOthers(tx: Tx, keptId: string | null): Promise<number>;
  /** Those made before the first, or not used since the second; how many there were. */
  removeExpired(tx: Tx, createdBeforeMs: number, unusedSinceMs: number): Promise<number>;
}
