import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { Transactions, Tx } from '../tx.ts';
import type { Actor, Grants, PersonActor } from './actor.ts';
import { type AuditLog, noSubject } from './audit-log.ts';
import { noteUse } from './last-used.ts';
import type { Origin } from './origin.ts';
import type { SessionRecord, SessionStore } from './session-store.ts';

/** A person as GitHub says who it is. */
export interface Person {
  readonly userId: number;
  readonly login: string;
  readonly email: string;
}

/**
 * Who is logged in to the UI, and until when. What they may do is asked of GitHub each time (access/roles.ts), and what
 * login policies gave them is kept with the session.
 */
export interface Sessions {
  /** Begins one and ends the one before it in this browser. The token is for the browser alone. */
  begin(tx: Tx, person: Person, browser: Browser, grants: Grants | null): Promise<string>;
  /** Null for one that is over or never was. */
  authenticate(token: string): Promise<Session | null>;
  /** The person logs out, here or everywhere. */
  logOut(session: Session, origin: Origin, where: 'here' | 'everywhere'): Promise<void>;
  /** Everywhere they are logged in; how many sessions that were. GitHub asks for it. */
  endAllOf(userId: number): Promise<number>;
  /** Those that are not over, the newest first. */
  listOf(userId: number): Promise<readonly SessionRecord[]>;
  /** False when that person had none of that id. */
  endOne(userId: number, id: string): Promise<boolean>;
  /** Everybody's but the one that the actor acts by: login policies changed, and what sessions were given with them. */
  endOthers(tx: Tx, actor: Actor): Promise<number>;
  /** Those that are over anyway; how many. */
  removeExpired(): Promise<number>;
}

/** Where somebody logs in. */
export interface Browser {
  readonly userAgent: string;
  /** The token it had before, whatever that is worth. */
  readonly before: string | null;
  readonly origin: Origin;
}

export interface Session {
  readonly record: SessionRecord;
  readonly actor: Actor;
  /** What a form of this session carries, so that no other page can send one in the person's name. */
  readonly formToken: string;
}

const hourMs = 3_600_000;
/** Whatever happens: GitHub is asked again who it is. */
export const longestMs = 7 * 24 * hourMs;
const longestIdleMs = 24 * hourMs;
const maxUserAgent = 200;

const digest = (token: string): string => createHash('sha256').update(token).digest('hex');

export function createSessions(parts: {
  store: SessionStore;
  transactions: Transactions;
  clock: Clock;
  newId: NewId;
  audit: Pick<AuditLog, 'note'>;
}): Sessions {
  const { store, transactions, clock, newId, audit } = parts;

  async function note(tx: Tx, operation: string, actor: Actor, origin: Origin): Promise<void> {
    const entry = { operation, actor, origin, params: {}, subject: noSubject };
    await audit.note(tx, entry, { outcome: 'done', note: null });
  }

  const isOver = ({ createdAtMs, lastUsedAtMs }: SessionRecord, nowMs: number): boolean =>
    nowMs >= createdAtMs + longestMs || nowMs >= lastUsedAtMs + longestIdleMs;

  return {
    async begin(tx, person, { userAgent, before, origin }, grants) {
      const token = randomBytes(32).toString('base64url');
      const atMs = clock.nowMs();
      if (before !== null) await store.removeByHash(tx, digest(before));
      await store.insert(tx, {
        ...{ id: newId(), hash: digest(token), ...person, grants },
        userAgent: userAgent.slice(0, maxUserAgent),
        createdAtMs: atMs,
        lastUsedAtMs: atMs,
      });
      await note(tx, 'login', personActor(person), origin);
      return token;
    },

    async authenticate(token) {
      const record = await store.findByHash(digest(token));
      const nowMs = clock.nowMs();
      if (!record || isOver(record, nowMs)) return null;
      await noteUse(record.lastUsedAtMs, nowMs, () =>
        transactions.write((tx) => store.setUsed(tx, record.id, nowMs)),
      );
      return { record, actor: actorOf(record), formToken: formTokenOf(token) };
    },

    logOut: ({ record, actor }, origin, where) =>
      transactions.write(async (tx) => {
        if (where === 'everywhere') await store.removeAllOf(tx, record.userId);
        else await store.remove(tx, record.userId, record.id);
        await note(tx, where === 'everywhere' ? 'logout everywhere' : 'logout', actor, origin);
      }),
    endAllOf: (userId) => transactions.write((tx) => store.removeAllOf(tx, userId)),
    async listOf(userId) {
      const nowMs = clock.nowMs();
      return (await store.listOf(userId)).filter((record) => !isOver(record, nowMs));
    },
    endOthers: (tx, actor) =>
      store.removeOthers(tx, actor.kind === 'person' ? (actor.session?.id ?? null) : null),
    endOne: (userId, id) => transactions.write((tx) => store.remove(tx, userId, id)),

    removeExpired() {
      const nowMs = clock.nowMs();
      return transactions.write((tx) => store.removeExpired(tx, nowMs - longestMs, nowMs - longestIdleMs));
    },
  };
}

export const personActor = ({ userId, login, email }: Person): PersonActor => ({
  kind: 'person',
  login,
  userId,
  email,
});

const actorOf = (record: SessionRecord): Actor => {
  const { id, grants } = record;
  return { ...personActor(record), session: { id, grants } };
};

/** Follows from the session's token, which no other page can read, and does not give it away. */
const formTokenOf = (token: string): string => createHmac('sha256', token).update('form').digest('base64url');

export function isFormToken(session: Pick<Session, 'formToken'>, given: string): boolean {
  const [wanted, got] = [Buffer.from(session.formToken), Buffer.from(given)];
  return wanted.length === got.length && timingSafeEqual(wanted, got);
}
