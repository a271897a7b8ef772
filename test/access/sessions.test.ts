import { expect, test } from 'vitest';
import type { Actor, Grants } from '../../src/access/actor.ts';
import { createAuditLog } from '../../src/access/audit-log.ts';
import { commandLine } from '../../src/access/origin.ts';
import { type Browser, createSessions, isFormToken, type Person } from '../../src/access/sessions.ts';
import { createIds } from '../../src/ids.ts';
import { createAuditStore } from '../../src/storage/audit-store.ts';
import { createSessionStore } from '../../src/storage/session-store.ts';
import { UserError } from '../../src/user-error.ts';
import { auditRows } from '../support/audit-rows.ts';
import { manualClock } from '../support/manual-clock.ts';
import { tempDatabase } from '../support/temp-database.ts';

const hourMs = 3_600_000;
const ada = { userId: 5, login: 'Ada', email: 'ada@example.com' };
const browser = { userAgent: 'Firefox', before: null, origin: { ...commandLine, via: 'ui' } } as const;

function open() {
  const temp = tempDatabase();
  const clock = manualClock();
  const store = createSessionStore(temp.database);
  const base = { transactions: temp.database, clock, newId: createIds(clock) };
  const audit = createAuditLog({ ...base, store: createAuditStore(temp.database) });
  const sessions = createSessions({ ...base, store, audit });
  const begin = (person: Person, at: Browser, grants: Grants | null = null) =>
    temp.database.write((tx) => sessions.begin(tx, person, at, grants));
  return {
    ...temp,
    clock,
    store,
    sessions,
    begin,
    audit,
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

async function sessionOf({ sessions }: ReturnType<typeof open>, token: string) {
  const session = await sessions.authenticate(token);
  if (!session) throw new Error('nobody is logged in');
  return session;
}

test('a session is its person, and the database does not hold what opens it', async () => {
  await using all = open();
  const token = await all.begin(ada, browser);

  expect(await all.sessions.authenticate(token)).toMatchObject({
    actor: { kind: 'person', login: 'Ada', email: 'ada@example.com' },
    record: { userId: 5, userAgent: 'Firefox' },
  });
  expect(await all.sessions.authenticate(`${token}x`)).toBeNull();
  expect(all.atRest().includes(token)).toBe(false);
});

test('it ends when it was not used for a day, and after a week whatever happens', async () => {
  await using all = open();
  const [idle, busy] = [await all.begin(ada, browser), await all.begin(ada, browser)];
  for (let hours = 0; hours < 7 * 24 - 12; hours += 12) {
    all.clock.advance(12 * hourMs);
    expect(await all.sessions.authenticate(busy)).not.toBeNull();
  }

  expect(await all.sessions.authenticate(idle)).toBeNull();
  all.clock.advance(12 * hourMs);
  expect(await all.sessions.authenticate(busy)).toBeNull();
  expect(await all.sessions.removeExpired()).toBe(2);
});

test('a login ends the session that the browser had', async () => {
  await using all = open();
  const before = await all.begin(ada, browser);

  const after = await all.begin({ ...ada, userId: 6 }, { ...browser, before });

  expect(await all.sessions.authenticate(before)).toBeNull();
  expect(await all.sessions.authenticate(after)).toMatchObject({ record: { userId: 6 } });
});

test('a logout ends one session, or those of the person everywhere', async () => {
  await using all = open();
  const [one, two] = [await all.begin(ada, browser), await all.begin(ada, browser)];
  const other = await all.begin({ ...ada, userId: 6 }, browser);

  await all.sessions.logOut(await sessionOf(all, one), browser.origin, 'here');
  expect([await all.sessions.authenticate(one), await all.sessions.listOf(5)]).toMatchObject([null, [{}]]);
  await all.sessions.logOut(await sessionOf(all, two), browser.origin, 'everywhere');

  expect(await all.sessions.authenticate(two)).toBeNull();
  expect(await all.sessions.authenticate(other)).not.toBeNull();
});

test('a person sees the sessions that are not over, and ends one of their own', async () => {
  await using all = open();
  await all.begin(ada, { ...browser, userAgent: 'over' });
  all.clock.advance(25 * hourMs);
  const one = await all.begin(ada, { ...browser, userAgent: 'one' });
  const { record } = await sessionOf(all, one);

  expect((await all.sessions.listOf(5)).map(({ userAgent }) => userAgent)).toEqual(['one']);
  expect(await all.sessions.endOne(6, record.id)).toBe(false);
  expect(await all.sessions.authenticate(one)).not.toBeNull();
  expect(await all.sessions.endOne(5, record.id)).toBe(true);
  expect(await all.sessions.authenticate(one)).toBeNull();
});

test('a form carries what only its own session knows', async () => {
  await using all = open();
  const [one, two] = [await all.begin(ada, browser), await all.begin(ada, browser)];
  const [mine, other] = [await all.sessions.authenticate(one), await all.sessions.authenticate(two)];
  if (!mine || !other) throw new Error('both are logged in');

  expect(isFormToken(mine, mine.formToken)).toBe(true);
  expect(isFormToken(mine, other.formToken)).toBe(false);
  expect(isFormToken(mine, '')).toBe(false);
  expect(mine.formToken).not.toContain(one);
});

test('a full disk shuts nobody out', async () => {
  await using all = open();
  const token = await all.begin(ada, browser);
  all.clock.advance(hourMs);
  const sessions = createSessions({
    store: all.store,
    transactions: { write: () => Promise.reject(new UserError('storage-full', 'The disk is full.')) },
    clock: all.clock,
    newId: createIds(all.clock),
    audit: all.audit,
  });

  expect(await sessions.authenticate(token)).toMatchObject({ record: { userId: 5 } });
});

test('logins and logouts are written down', async () => {
  await using all = open();
  const [one, two] = [await all.begin(ada, browser), await all.begin(ada, browser)];
  await all.sessions.logOut(await sessionOf(all, one), browser.origin, 'here');
  await all.sessions.logOut(await sessionOf(all, two), browser.origin, 'everywhere');

  const rows = await auditRows(all.audit);
  expect(rows.map(({ operation }) => operation)).toEqual(['logout everywhere', 'logout', 'login', 'login']);
  expect(rows[0]).toMatchObject({
    actor: { key: 'person:ada' },
    origin: { via: 'ui' },
    outcome: 'done',
    status: null,
  });
});

const grants: Grants = {
  admin: true,
  roles: [{ account: 'acme', stack: 'net', role: 'writer' }],
  policies: ['who gets in'],
};

test('what a session was given is its own, and no other session has it', async () => {
  await using all = open();
  const given = await all.begin(ada, browser, grants);
  const plain = await all.begin(ada, browser);

  expect((await sessionOf(all, given)).actor).toMatchObject({ session: { grants } });
  expect((await sessionOf(all, plain)).actor).toMatchObject({ session: { grants: null } });
});

test('a login in the same browser takes nothing over from the session before it', async () => {
  await using all = open();
  const before = await all.begin(ada, browser, grants);
  const after = await all.begin(ada, { ...browser, before });

  expect(await all.sessions.authenticate(before)).toBeNull();
  expect((await sessionOf(all, after)).actor).toMatchObject({ session: { grants: null } });
});

test.each<[string, (all: ReturnType<typeof open>, mine: string) => Promise<Actor>, boolean]>([
  ['a session', async (all, mine) => (await sessionOf(all, mine)).actor, true],
  ['a token', async () => ({ kind: 'token', id: 't', name: 'ci', role: 'admin', account: null }), false],
  ['the operator', async () => ({ kind: 'operator' }), false],
])('who changes login policies by %s ends all other sessions', async (_, actorOf, keepsOwn) => {
  await using all = open();
  const [mine, elsewhere] = [await all.begin(ada, browser), await all.begin(ada, browser)];
  const other = await all.begin({ ...ada, userId: 6 }, browser);
  const actor = await actorOf(all, mine);

  expect(await all.database.write((tx) => all.sessions.endOthers(tx, actor))).toBe(keepsOwn ? 2 : 3);

  const left = await Promise.all([mine, elsewhere, other].map((each) => all.sessions.authenticate(each)));
  expect(left.map((session) => session !== null)).toEqual([keepsOwn, false, false]);
});
