import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { createLogin, type IdentityProvider, localPath } from '../../src/access/login.ts';
import { fc } from '../support/fast-check.ts';

const redirectUrl = 'https://slipway.example.com/login/callback';
const ada = { userId: 5, login: 'ada', email: 'ada@example.com' };
const identity = { person: ada, memberships: async () => ({ accounts: [], teams: null }) };

/** Says who it is to whoever knows what belongs to the challenge. */
function open() {
  let challenge = '';
  const provider: IdentityProvider = {
    authorizeUrl(request) {
      challenge = request.challenge;
      return `https://github.example/authorize?state=${request.state}`;
    },
    async identify({ verifier, code }) {
      expect(createHash('sha256').update(verifier).digest('base64url')).toBe(challenge);
      expect(code).toBe('code of GitHub');
      return identity;
    },
  };
  const login = createLogin(provider);
  const { url, memo } = login.begin({ returnTo: '/runs/1?tab=log', redirectUrl });
  const state = new URL(url).searchParams.get('state') ?? '';
  const back = { memo, state, code: 'code of GitHub', redirectUrl };
  return { login, memo, state, back };
}

test('who comes back is who began, and goes on where they were', async () => {
  const { login, back } = open();
  expect(await login.finish(back)).toEqual({ identity, returnTo: '/runs/1?tab=log' });
});

test.each<[string, (opened: ReturnType<typeof open>) => object]>([
  ['without what the browser kept', () => ({ memo: null })],
  ['with what is no memo', () => ({ memo: 'AAAA' })],
  ['with the memo of another login', () => ({ memo: open().memo })],
  ['without a state', () => ({ state: undefined })],
  ['with another state', ({ state }) => ({ state: `${state.slice(1)}x` })],
  ['without a code: the person said no', () => ({ code: undefined })],
])('a way back %s is refused', async (_, change) => {
  const opened = open();
  await expect(opened.login.finish({ ...opened.back, ...change(opened) })).rejects.toMatchObject({
    code: 'login-refused',
  });
});

test.each([
  ['/', '/'],
  ['/runs/1?tab=log#L3', '/runs/1?tab=log#L3'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['/a\\b', '/'],
  ['/\t/evil.example', '/'],
  ['https://evil.example/', '/'],
  ['javascript:alert(1)', '/'],
  ['', '/'],
  ['runs', '/'],
])('after a login for %j the browser goes to %s', (wanted, path) => {
  expect(localPath(wanted)).toBe(path);
});

test('no wanted address leads to another server', () => {
  const character = fc.constantFrom(...'/\\\t\n\r .:@?#ab\u0000\u2044');
  fc.assert(
    fc.property(fc.string({ unit: character, maxLength: 12 }), (wanted) => {
      expect(new URL(localPath(wanted), 'https://slipway.example.com').origin).toBe(
        'https://slipway.example.com',
      );
    }),
    { numRuns: 5000 },
  );
});

test('a path that is too long for a cookie is not remembered', () => {
  expect(localPath(`/runs/1?cursor=${'x'.repeat(1900)}`)).toMatch(/^\/runs/);
  expect(localPath(`/runs/1?cursor=${'x'.repeat(2000)}`)).toBe('/');
});
