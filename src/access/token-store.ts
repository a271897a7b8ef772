import type { Tx } from '../tx.ts';
import type { Role } from './actor.ts';

export interface TokenRecord {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly account: string | null;
  readonly createdAtMs: number;
}

export interface TokenStore {
  /** `hash` is the SHA-256 of the token, hex. */
  insert(tx: Tx, token: TokenRecord & { readonly hash: string }): Promise<void>;
  findByHash(hash: string): Promise<TokenRecord | null>;
  list(): Promise<readonly TokenRecord[]>;
  /** False when there was none. */
  remove(tx: Tx, id: string): Promise<boolean>;
}
