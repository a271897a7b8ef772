import { expect, test } from 'vitest';
import { commandLine } from '../../src/access/origin.ts';
import type { Person } from '../../src/access/sessions.ts';
import { startReceiving } from './receiving.ts';

const ada = { userId: 5, login: 'ada', email: 'ada@example.com' };
const browser = { userAgent: 'Firefox', before: null, origin: commandLine };

async function opened() {
  const all = await startReceiving();
  const begin = (person: Person) => all.database.write((tx) => all.sessions.begin(tx, person, browser, null));
  const [session, other] = [await begin(ada), await begin({ ...ada, userId: 6, login: 'bob' })];
  const told = (payload: object) =>
    all.handle({
      ...{ id: 'd', event: 'github_app_authorization', lane: 'x', attempt: 1, receivedAtMs: 0 },
      body: Buffer.from(JSON.stringify(payload)),
    });
  const loggedIn = async () => [
    (await all.sessions.authenticate(session)) !== null,
    (await all.sessions.authenticate(other)) !== null,
  ];
  return { told, loggedIn, [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() };
}

const sender = { id: 5, login: 'renamed', type: 'User' };

test('who takes the authorization back is logged out, whatever the login is by now; nobody else is', async () => {
  await using all = await opened();

  const outcome = await all.told({ action: 'revoked', sender });

  expect(outcome).toEqual({ state: 'done', note: '1 session of renamed ended' });
  expect(await all.loggedIn()).toEqual([false, true]);
});

test.each([
  [
    { action: 'granted', sender },
    { state: 'ignored', note: 'nothing is done for the action granted' },
  ],
  [
    { action: 'revoked' },
    { state: 'failed', note: expect.stringContaining('payload not understood: sender') },
  ],
])('%j is %j', async (payload, outcome) => {
  await using all = await opened();

  expect(await all.told(payload)).toEqual(outcome);
  expect(await all.loggedIn()).toEqual([true, true]);
});
