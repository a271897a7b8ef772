import { expect, test } from 'vitest';
import type { Grants } from '../../src/access/actor.ts';
import { createAdmission } from '../../src/access/admission.ts';
import { createAuditLog } from '../../src/access/audit-log.ts';
import type { Arrival, LoginRequest, LoginVerdict } from '../../src/access/login-judge.ts';
import { createSessions } from '../../src/access/sessions.ts';
import { createIds } from '../../src/ids.ts';
import { createLogger } from '../../src/logger.ts';
import { createAuditStore } from '../../src/storage/audit-store.ts';
import { createSessionStore } from '../../src/storage/session-store.ts';
import { UserError } from '../../src/user-error.ts';
import { auditRows } from '../support/audit-rows.ts';
import { manualClock } from '../support/manual-clock.ts';
import { tempDatabase } from '../support/temp-database.ts';

const browser = {
  ...{ userAgent: 'Firefox', before: null },
  origin: { via: 'ui', address: '192.0.2.7', forwardedFor: null },
} as const;
const settle = async () => true;
const grants: Grants = { admin: true, roles: [], policies: ['who gets in'] };
const denied: LoginVerdict = { kind: 'denied', reason: 'Not today.', policies: ['one', 'two'], settle };

/** The judge says these things one after the other; what it throws is said, too. */
function open(...verdicts: readonly (LoginVerdict | Error)[]) {
  const temp = tempDatabase();
  const clock = manualClock();
  const base = { transactions: temp.database, clock, newId: createIds(clock) };
  const audit = createAuditLog({ ...base, store: createAuditStore(temp.database) });
  const sessions = createSessions({ ...base, audit, store: createSessionStore(temp.database) });
  const asked: [Arrival, LoginRequest][] = [];
  const admission = createAdmission({
    ...base,
    ...{ sessions, audit, logger: createLogger('silent') },
    isAdmin: ({ login }) => login === 'root',
    judge: {
      async judge(...question) {
        const verdict = verdicts[asked.push(question) - 1];
        if (!verdict) throw new Error('asked too often');
        if (verdict instanceof Error) throw verdict;
        return verdict;
      },
    },
  });
  const memberships = () => Promise.reject(new Error('nobody asks here'));
  const admit = (login: string) =>
    admission.admit({ person: { userId: 5, login, email: '' }, memberships }, browser);
  const refusalOf = (login: string) =>
    admit(login).then(
      () => 'let in',
      (error: { code?: string; message: string }) => [error.code, error.message],
    );
  const grantsOf = async (token: string) => (await sessions.authenticate(token))?.record.grants;
  return { ...temp, admit, refusalOf, grantsOf, asked, audit, sessions, clock };
}

test('without policies a session has no more than GitHub gives', async () => {
  const all = open({ kind: 'no-policies', settle });
  await using _ = all;
  expect(await all.grantsOf(await all.admit('eve'))).toBeNull();
  expect(all.asked).toMatchObject([
    [
      { person: { login: 'eve' }, isAdmin: false },
      { address: '192.0.2.7', atMs: all.clock.nowMs() },
    ],
  ]);
});

test('what policies give is kept with the session', async () => {
  const all = open({ kind: 'allowed', grants, settle });
  await using _ = all;
  expect(await all.grantsOf(await all.admit('eve'))).toEqual(grants);
});

test('who is kept out has no session, reads why, and stands in the audit log', async () => {
  const all = open(denied);
  await using _ = all;

  expect(await all.refusalOf('eve')).toEqual(['login-refused', 'Not today.']);

  expect(await all.sessions.listOf(5)).toEqual([]);
  expect(await auditRows(all.audit)).toMatchObject([
    {
      ...{ operation: 'login', outcome: 'refused', note: 'Not today.' },
      ...{ actor: { key: 'person:eve' }, params: { policies: 'one, two' }, origin: { address: '192.0.2.7' } },
    },
  ]);
});

test.each<[string, LoginVerdict | Error]>([
  ['deny', denied],
  ['cannot be judged', new UserError('github-unavailable', 'GitHub does not say')],
])('administrators of the environment get in when policies %s, with nothing given', async (_, verdict) => {
  const all = open(verdict);
  await using _all = all;
  expect(await all.grantsOf(await all.admit('root'))).toBeNull();
});

test('nobody else gets in when it cannot be judged', async () => {
  const all = open(new UserError('github-unavailable', 'GitHub does not say'));
  await using _ = all;
  expect(await all.refusalOf('eve')).toEqual(['github-unavailable', 'GitHub does not say']);
  expect(await all.sessions.listOf(5)).toEqual([]);
});

test('it is judged anew when the policies changed before the session began', async () => {
  const outdated: LoginVerdict = { kind: 'allowed', grants, settle: async () => false };
  const all = open(outdated, denied);
  await using _ = all;
  expect(await all.refusalOf('eve')).toEqual(['login-refused', 'Not today.']);
  expect(all.asked).toHaveLength(2);
});

test('policies that change again and again let nobody in', async () => {
  const outdated: LoginVerdict = { kind: 'allowed', grants, settle: async () => false };
  const all = open(outdated, outdated, outdated);
  await using _ = all;
  expect(await all.refusalOf('eve')).toMatchObject(['login-refused', expect.stringContaining('changed')]);
  expect(await all.sessions.listOf(5)).toEqual([]);
});

test('what is judged is written down together with the session, or not at all', async () => {
  const all = open({ kind: 'allowed', grants, settle: () => Promise.reject(new Error('disk full')) });
  await using _ = all;
  await expect(all.admit('eve')).rejects.toThrow('disk full');
  expect([await all.sessions.listOf(5), await auditRows(all.audit)]).toEqual([[], []]);
});
