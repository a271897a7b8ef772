import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { Transactions } from '../tx.ts';
import { UserError } from '../user-error.ts';
import { type Actor, actorName, type Role, type TokenActor } from './actor.ts';
import { noteUse } from './last-used.ts';
import type { TokenRecord, TokenStore } from './token-store.ts';

export interface NewToken {
  readonly name: string;
  readonly role: Role;
  /** The one account it sees; null: all. */
  readonly account: string | null;
  /** Null or left out: never. */
  readonly expiresAtMs?: number | null;
}

/** API tokens: shown once, kept as a digest. 256 random bits need no slow hash. */
export interface Tokens {
  /** Throws `invalid-input` for one that would be worth nothing already. */
  create(input: NewToken, by: Actor): Promise<TokenRecord & { token: string }>;
  /** Oldest first; those that expired, too. */
  list(options: { readonly after: string | null; readonly limit: number }): Promise<readonly TokenRecord[]>;
  /** It is refused from now on. False when there was none. */
  revoke(id: string): Promise<boolean>;
  /** Null for a token that does not exist (any more). */
  authenticate(token: string): Promise<TokenActor | 'expired' | null>;
}

/** The prefix lets secret scanners and people recognise one. */
const prefix = 'slipway_';

/** For what is written down: somebody may have given a token where its id belongs. */
export const withoutTokens = (text: string): string =>
  text.replaceAll(new RegExp(`${prefix}[\\w-]{43}`, 'g'), `${prefix}…`);

const digest = (token: string): string => createHash('sha256').update(token).digest('hex');

export function createTokens(parts: {
  store: TokenStore;
  transactions: Transactions;
  clock: Clock;
  newId: NewId;
}): Tokens {
  const { store, transactions, clock } = parts;
  return {
    async create({ expiresAtMs = null, ...input }, by) {
      const createdAtMs = clock.nowMs();
      if (expiresAtMs !== null && expiresAtMs <= createdAtMs) throw expiredAlready();
      const token = prefix + randomBytes(32).toString('base64url');
      const times = { createdAtMs, expiresAtMs, lastUsedAtMs: null };
      const record = { id: parts.newId(), ...input, ...times, createdBy: actorName(by) };
      await transactions.write((tx) => store.insert(tx, { ...record, hash: digest(token) }));
      return { ...record, token };
    },
    list: (options) => store.list(options),
    revoke: (id) => transactions.write((tx) => store.remove(tx, id)),
    async authenticate(token) {
      if (!token.startsWith(prefix)) return null;
      const record = await store.findByHash(digest(token));
      if (!record) return null;
      const { id, name, role, account, expiresAtMs, lastUsedAtMs } = record;
      const nowMs = clock.nowMs();
      if (expiresAtMs !== null && nowMs >= expiresAtMs) return 'expired';
      await noteUse(lastUsedAtMs, nowMs, () => transactions.write((tx) => store.setUsed(tx, id, nowMs)));
      return { kind: 'token', id, name, role, account };
    },
  };
}

function expiredAlready(): UserError {
  const issues = [{ path: 'expiresAt', message: 'must be in the future' }];
  return new UserError('invalid-input', 'expiresAt: must be in the future', { issues });
}
