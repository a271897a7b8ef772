import type { Tx } from '../tx.ts';
import type { Role } from './actor.ts';

export interface TokenRecord {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly account: string | null;
  readonly createdAtMs: number;
  /** Name of who made it. */
  readonly createdBy: string;
  /** Worth nothing from then on; null: never. */
  readonly expiresAtMs: number | null;
  /** Minutes old at most (last-used.ts); null: not yet. */
  readonly lastUsedAtMs: number | null;
}

export interface TokenStore {
  /** `hash` is the SHA-256 of the token, hex. */
  insert(tx: Tx, token: TokenRecord & { readonly hash: string }): Promise<void>;
  findByHash(hash: string): Promise<TokenRecord | null>;
  /** Oldest first. `after` is the id of the last one seen. */
  list(options: { readonly after: string | null; readonly limit: number }): Promise<readonly TokenRecord[]>;
  setUsed(tx: Tx, id: string, atMs: number): Promise<void>;
  /** False when there was none. */
  remove(tx: Tx, id: string): Promise<boolean>;
}
