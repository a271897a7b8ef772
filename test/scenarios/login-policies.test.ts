import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { auditRows } from '../support/audit-rows.ts';
import { type Logins, openLogins } from './login-world.ts';

const stack = '/api/v1/stacks/acme/network';
const forTeam = 'allow if "acme/platform" in input.teams';

/** What the person in the browser may do: read, lock and delete the two stacks, and read the system page. */
async function rightsOf({ statusOf }: Logins) {
  const of = async (id: string) => {
    const path = `/api/v1/stacks/acme/${id}`;
    if ((await statusOf('GET', path)) !== 200) return 'none';
    if ((await statusOf('PUT', `${path}/lock`)) !== 204) return 'reader';
    return (await statusOf('PATCH', path, '{"description": "changed"}')) === 200 ? 'admin' : 'writer';
  };
  const [network, dns] = [await of('network'), await of('dns')];
  return { network, dns, instance: (await statusOf('GET', '/api/v1/system')) === 200 };
}

test.each<[string, Record<string, string>, login: string, Awaited<ReturnType<typeof rightsOf>>]>([
  ['no policy', {}, 'eve', { network: 'none', dns: 'none', instance: false }],
  ['allow', { team: forTeam }, 'eve', { network: 'none', dns: 'none', instance: false }],
  [
    'admin, and no allow',
    { ops: 'admin if input.session.login == "eve"' },
    'eve',
    { network: 'admin', dns: 'admin', instance: true },
  ],
  [
    'a role in an account',
    { roles: 'roles["acme"] contains "writer" if input.session.member' },
    'eve',
    { network: 'writer', dns: 'writer', instance: false },
  ],
  [
    'a role on one stack',
    { roles: 'roles["Acme/dns"] contains "admin" if "acme" in input.accounts' },
    'eve',
    { network: 'none', dns: 'admin', instance: false },
  ],
  [
    'roles of two policies',
    {
      one: 'roles["acme"] contains "reader" if true',
      two: 'roles["acme/network"] contains r if some r in ["reader", "writer"]',
    },
    'eve',
    { network: 'writer', dns: 'reader', instance: false },
  ],
])('%s lets in, with these rights', async (_, policies, login, rights) => {
  await using all = await openLogins();
  const { database, repositories, installed } = all.installation;
  await database.write(async (tx) => {
    for (const { account } of installed.values()) await repositories.saveAccount(tx, account);
  });
  for (const [name, rego] of Object.entries(policies)) await all.add(name, rego);

  const { answer, location } = await all.logIn(login);

  expect([answer.status, location]).toEqual([303, '/account']);
  expect(await rightsOf(all)).toEqual(rights);
});

test.each<[string, Record<string, string>, reason: string, named: string]>([
  ['deny', { locked: 'deny if true' }, 'You are kept out by the login policy locked.', 'locked'],
  [
    'deny beside admin',
    { ops: 'admin if true', night: 'deny if input.request.timestamp_ns > 0' },
    'You are kept out by the login policy night.',
    'night',
  ],
  [
    'nothing that matches',
    { team: 'allow if "acme/finance" in input.teams', own: 'admin if input.session.login == "grace"' },
    'No login policy lets you in.',
    'own, team',
  ],
  [
    'an unknown role',
    { team: forTeam, odd: 'roles["acme"] contains "owner" if true' },
    'The login policy odd could not be evaluated.',
    'odd',
  ],
  [
    'an unknown account',
    { odd: 'roles["initech"] contains "reader" if true' },
    'The login policy odd could not be evaluated.',
    'odd',
  ],
  [
    'a conflict',
    { team: forTeam, odd: 'roles := {"acme": {"reader"}} if true\nroles := {"acme": {"admin"}} if true' },
    'The login policy odd could not be evaluated.',
    'odd',
  ],
])('%s keeps out, and says so without details', async (_, policies, reason, named) => {
  await using all = await openLogins();
  const { database, repositories, installed, audit } = all.installation;
  await database.write(async (tx) => {
    for (const { account } of installed.values()) await repositories.saveAccount(tx, account);
  });
  for (const [name, rego] of Object.entries(policies)) await all.add(name, rego);

  const { answer, text } = await all.logIn('eve');

  expect(answer.status).toBe(403);
  expect(text).toContain(reason);
  expect(text).not.toMatch(/initech|owner|conflict|acme/);
  expect(await all.session()).toBeNull();
  const [row] = await auditRows(audit);
  expect(row).toMatchObject({
    ...{ operation: 'login', outcome: 'refused', note: reason },
    ...{ params: { policies: named }, actor: { key: 'person:eve' } },
  });
});

test('a policy that does not compile keeps out, but not the administrators of the environment', async () => {
  await using all = await openLogins();
  await all.keep('broken', 'allow if no_such_function(1)');

  const eve = await all.logIn('eve');
  expect([eve.answer.status, eve.text]).toEqual([
    403,
    expect.stringContaining('The login policy broken could not be evaluated.'),
  ]);
  expect(eve.text).not.toContain('no_such_function');

  expect((await all.logIn('root-ada')).answer.status).toBe(303);
  expect((await all.session())?.actor).toMatchObject({ login: 'root-ada', session: { grants: null } });
  expect(await all.statusOf('GET', '/api/v1/system')).toBe(200);
  const decisions = await all.decisions.list({ before: null, limit: 10 });
  expect(decisions).toMatchObject([
    { subject: 'the login of root-ada', outcome: 'failed', failure: { code: 'compile' }, accountId: null },
    { subject: 'the login of eve', outcome: 'failed', runId: null, stackKey: null },
  ]);
});

test('without the engine nobody gets in but the administrators of the environment', async () => {
  await using all = await openLogins({ enginePath: null });
  await all.keep('team', forTeam);

  expect((await all.logIn('eve')).answer.status).toBe(403);
  expect((await all.logIn('root-ada')).answer.status).toBe(303);
});

test('policies are asked at the next login again, and nothing of the session before is left', async () => {
  await using all = await openLogins();
  const { policy } = await all.add('ops', 'admin if true\n\nsample if true');
  await all.logIn('eve');
  expect(await all.statusOf('GET', '/api/v1/system')).toBe(200);

  const by = (await all.session())?.actor ?? { kind: 'operator' };
  await all.policies.update(
    policy.id,
    { ...policy, body: `package slipway\n\n${forTeam}\n` },
    by,
    () => undefined,
  );
  expect(await all.statusOf('GET', '/api/v1/system')).toBe(200);
  await all.logIn('eve');

  expect((await all.session())?.record.grants).toBeNull();
  expect(await all.statusOf('GET', '/api/v1/system')).toBe(404);
  const [sample] = await all.samples.list(policy.id);
  expect(JSON.parse((await all.samples.input(sample?.id ?? '')) ?? '')).toMatchObject({
    ...{ session: { login: 'eve', admin: false }, accounts: ['acme'], teams: ['acme/platform'] },
  });
});

test.each(['changed', 'added', 'deleted'])(
  'a policy that is %s ends all sessions but that of who did it',
  async (how) => {
    await using all = await openLogins();
    const { policy } = await all.add('ops', 'admin if true');
    await all.logIn('eve');
    const [changer, jar] = [await all.session(), new Map(all.browser.jar)];
    if (!changer) throw new Error('nobody is logged in');
    all.browser.jar.clear();
    await all.logIn('root-ada');
    expect(await all.statusOf('GET', stack)).toBe(200);

    const { account, kind, description, labels, regoVersion } = policy;
    const body = 'package slipway\n\nallow if true\n';
    const content = { account, kind, name: 'other', description, labels, regoVersion, body };
    if (how === 'changed') await all.policies.update(policy.id, content, changer.actor, () => undefined);
    if (how === 'added') await all.policies.create(content, changer.actor);
    if (how === 'deleted') await all.policies.remove(policy.id, changer.actor, () => undefined);

    expect(await all.statusOf('GET', stack)).toBe(401);
    all.browser.jar.clear();
    for (const [name, value] of jar) all.browser.jar.set(name, value);
    expect(await all.statusOf('GET', stack)).toBe(200);
  },
);

test('a followed run ends for who was logged out by it', async () => {
  await using all = await openLogins();
  const { installation, browser } = all;
  await all.add('ops', 'admin if true');
  const network = await installation.stackStore.find('acme', 'network');
  if (!network) throw new Error('cannot be');
  const run = await installation.addRun(network);
  await all.logIn('eve');
  const cookie = [...browser.jar].map(([name, value]) => `${name}=${value}`).join('; ');
  const followed = await installation.web.fetch(
    new Request(`https://slipway.example.com/api/v1/runs/${run.id}/states/stream`, {
      headers: { cookie, accept: 'text/event-stream' },
    }),
  );
  expect(followed.status).toBe(200);

  const lines = followed.body?.pipeThrough(new TextDecoderStream()).getReader();
  const nextLines = async () => (await lines?.read())?.value;
  while (!(await nextLines())?.includes('event: state'));

  await all.add('more', 'deny if false');

  // Ends by itself, or the test runs out of time.
  while ((await nextLines()) !== undefined);
  expect(await all.statusOf('GET', stack)).toBe(401);
});

test('GitHub that does not say what a person belongs to is no denial, and lets nobody in', async () => {
  await using all = await openLogins();
  await all.add('team', forTeam);
  all.github.failNext({ pathPattern: /user\/installations/, status: 503, times: 2 });

  const eve = await all.logIn('eve');
  const root = await all.logIn('root-ada');

  expect([eve.answer.status, root.answer.status]).toEqual([502, 303]);
  expect(eve.text).toContain('GitHub could not be asked');
});

test('without login policies GitHub is asked no more than who it is', async () => {
  await using all = await openLogins();
  expect((await all.logIn('eve')).answer.status).toBe(303);
  expect(all.github.requests.filter(({ path }) => path.includes('/user/'))).toEqual([]);
  expect(await all.decisions.list({ before: null, limit: 1 })).toEqual([]);
});

test.each<[login: string, status: number, grants: object | null]>([
  [
    'eve',
    303,
    { admin: false, roles: [{ account: 'acme', stack: null, role: 'reader' }], policies: ['docs'] },
  ],
  ['ada', 403, null],
])('the policy of the documentation does what it says for %s', async (login, status, grants) => {
  await using all = await openLogins();
  const { database, repositories, installed } = all.installation;
  await database.write(async (tx) => {
    for (const { account } of installed.values()) await repositories.saveAccount(tx, account);
  });
  all.github.addTeam({ organization: 'acme', slug: 'support', members: ['eve'] });
  const page = readFileSync(join(import.meta.dirname, '../../docs/policies/login.md'), 'utf8');
  const [, rego = ''] = /```rego\npackage slipway\n([^`]+)```/.exec(page) ?? [];
  await all.add('docs', rego);

  expect((await all.logIn(login)).answer.status).toBe(status);
  expect((await all.session())?.record.grants ?? null).toEqual(grants);
});

test('nobody gives themselves anything: what the browser keeps and sends is no grant', async () => {
  await using all = await openLogins();
  await all.add('team', forTeam);
  await all.logIn('eve');
  const forged = Buffer.from('{"admin":true,"roles":[],"policies":[]}').toString('base64url');
  all.browser.jar.set('grants', forged);
  const cookie = [...all.browser.jar].map(([name, value]) => `${name}=${value}`).join('; ');

  const answers = await Promise.all(
    [`?grants=${forged}`, ''].map((query) =>
      all.installation.web.fetch(
        new Request(`https://slipway.example.com/api/v1/system${query}`, {
          headers: { cookie, 'x-grants': forged },
        }),
      ),
    ),
  );

  expect(answers.map(({ status }) => status)).toEqual([404, 404]);
});
