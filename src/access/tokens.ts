import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { Transactions } from '../tx.ts';
import type { Role, TokenActor } from './actor.ts';
import type { TokenRecord, TokenStore } from './token-store.ts';

/** API tokens: shown once, kept as a digest. 256 random bits need no slow hash. */
export interface Tokens {
  create(input: {
    name: string;
    role: Role;
    account: string | null;
  }): Promise<TokenRecord & { token: string }>;
  list(): Promise<readonly TokenRecord[]>;
  /** It is refused from now on. False when there was none. */
  revoke(id: string): Promise<boolean>;
  /** Null for a token that does not exist (any more). */
  authenticate(token: string): Promise<TokenActor | null>;
}

/** The prefix lets secret scanners and people recognise one. */
const prefix = 'slipway_';

const digest = (token: string): string => createHash('sha256').update(token).digest('hex');

export function createTokens(parts: {
  store: TokenStore;
  transactions: Transactions;
  clock: Clock;
  newId: NewId;
}): Tokens {
  return {
    async create(input) {
      const token = prefix + randomBytes(32).toString('base64url');
      const record = { id: parts.newId(), ...input, createdAtMs: parts.clock.nowMs() };
      await parts.transactions.write((tx) => parts.store.insert(tx, { ...record, hash: digest(token) }));
      return { ...record, token };
    },
    list: () => parts.store.list(),
    revoke: (id) => parts.transactions.write((tx) => parts.store.remove(tx, id)),
    async authenticate(token) {
      if (!token.startsWith(prefix)) return null;
      const record = await parts.store.findByHash(digest(token));
      if (!record) return null;
      return {
        kind: 'token',
        id: record.id,
        name: record.name,
        role: record.role,
        account: record.account,
      };
    },
  };
}
