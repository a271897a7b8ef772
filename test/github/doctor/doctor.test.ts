import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { StandInOptions } from '../../../demo/github/server.ts';
import type { Permissions } from '../../../demo/github/state.ts';
import { readAppDefinition } from '../../../src/github/app-definition.ts';
import { examineGithub } from '../../../src/github/doctor/doctor.ts';
import { eventUses, permissionUses } from '../../../src/github/doctor/needs.ts';
import { createInbox } from '../../../src/github/inbox.ts';
import { createInboxStore } from '../../../src/storage/inbox-store.ts';
import { startReceiver } from '../../demo/stand-in.ts';
import { aClock, serveInbox, silent, startGithub, tempDatabase, webhookSecret } from '../support.ts';

const definition = readAppDefinition();
const asked = { permissions: definition.permissions as Permissions, events: [...definition.events] };

/** GitHub, an App as app.yml describes it, a private repository, and a server that answers deliveries. */
async function aWorld(options: Partial<StandInOptions> = {}) {
  const receiver = await startReceiver();
  const webhook = { url: receiver.url, secret: webhookSecret };
  const started = await startGithub({ webhook, app: asked, ...options });
  const { github, settings } = started;
  await github.addRepository({ owner: 'acme', name: 'infra', files: { a: '1' }, private: true });
  const publicUrl: string | null = new URL(receiver.url).origin;
  return {
    ...started,
    receiver,
    webhook,
    publicUrl,
    async examine(change: Partial<Parameters<typeof examineGithub>[0]> = {}) {
      const clock = { nowMs: () => Date.now() };
      const found = await examineGithub({ settings, publicUrl, clock, logger: silent, ...change });
      return {
        all: found,
        unwell: found.filter(({ status }) => status !== 'ok').map(({ name }) => name),
        of: (name: string) => found.find((each) => each.name === name),
      };
    },
    async [Symbol.asyncDispose]() {
      await started[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
}

test('every permission and event of app.yml has a use that is told when it is missing', () => {
  const file = parse(readFileSync(join(import.meta.dirname, '../../../app.yml'), 'utf8'));

  expect(definition.permissions).toEqual(file.default_permissions);
  expect(definition.events).toEqual(file.default_events);
  expect(Object.keys(definition.permissions).filter((name) => !(name in permissionUses))).toEqual([]);
  expect(definition.events.filter((name) => !(name in eventUses))).toEqual([]);
});

test('the stand-in is installed with what app.yml asks for', async () => {
  await using started = await startGithub();

  expect(started.github.app.permissions).toEqual(definition.permissions);
  expect(started.github.app.events.toSorted()).toEqual(definition.events.toSorted());
});

test('finds nothing to say about an App that is well, and changes nothing', async () => {
  await using world = await aWorld();
  const before = world.github.requests.length;

  const { all, unwell } = await world.examine();

  expect(unwell).toEqual([]);
  expect(all.map(({ name, detail }) => `${name}: ${detail}`)).toEqual([
    `github app: Slipway, ${world.github.url}/apps/slipway`,
    'github clock: the same time as here',
    `github permissions: ${Object.entries(definition.permissions)
      .map((pair) => pair.join(' '))
      .join(', ')}`,
    `github events: ${definition.events.join(', ')}`,
    `github webhook: to ${world.webhook.url}`,
    'github deliveries: the newest (installation_repositories.added, 0 min ago) was answered 202',
    'github on acme: 1 selected repository; tried on acme/infra',
  ]);
  const made = world.github.requests.slice(before);
  const writes = made.filter(({ method, path }) => method !== 'GET' && !path.endsWith('/access_tokens'));
  expect(writes).toEqual([]);
});

test.each(Object.entries(definition.permissions))(
  'names the permission that the App lacks: %s',
  async (name, level) => {
    const { [name]: _, ...rest } = asked.permissions;
    await using world = await aWorld({ app: { ...asked, permissions: rest } });

    const { of, unwell } = await world.examine();

    // Not once more for each installation.
    expect(unwell).toEqual(['github permissions']);
    expect(of('github permissions')).toEqual({
      name: 'github permissions',
      status: 'problem',
      detail: `${name} ${level} is missing: ${permissionUses[name]}`,
      hint: expect.stringContaining(`${world.github.url}/settings/apps/slipway/permissions`),
    });
  },
);

test.each(definition.events)('names the event that does not come: %s', async (event) => {
  await using world = await aWorld({
    app: { ...asked, events: asked.events.filter((name) => name !== event) },
  });

  const { of, unwell } = await world.examine();

  expect(unwell).toEqual(['github events']);
  expect(of('github events')?.detail).toBe(`${event} is not subscribed: ${eventUses[event]}`);
});

test('read where write is needed is missing, too', async () => {
  await using world = await aWorld({
    app: { ...asked, permissions: { ...asked.permissions, checks: 'read' } },
  });

  expect((await world.examine()).of('github permissions')?.detail).toMatch(/^checks write is missing: /);
});

test('names what is granted beyond need', async () => {
  const permissions = { ...asked.permissions, administration: 'write', contents: 'write' } as const;
  await using world = await aWorld({ app: { ...asked, permissions } });

  expect((await world.examine()).of('github permissions')).toMatchObject({
    status: 'warning',
    detail: 'more than is used: contents write, administration write',
  });
});

test.each([
  ['a key of another App', 401, 'problem', /refuses the key of App 7/],
  ['an id that nobody has', 404, 'problem', /knows no App 7/],
  ['a GitHub in trouble', 500, 'problem', /answered 500/],
] as const)('tells of %s, and asks no further', async (_, status, level, detail) => {
  await using world = await aWorld();
  world.github.failNext({ pathPattern: /^\/app$/, status, times: 5 });

  const { all } = await world.examine();

  expect(all.map(({ name }) => name)).toEqual(['github app', 'github clock']);
  expect(all[0]).toMatchObject({ status: level, detail: expect.stringMatching(detail) });
});

test('a key that GitHub does not have for the App is refused by its own check', async () => {
  await using world = await aWorld();
  world.github.app.id = 8;

  expect((await world.examine()).all[0]).toMatchObject({ name: 'github app', status: 'problem' });
});

test('tells when nobody answers', async () => {
  await using world = await aWorld();
  await using gone = await startReceiver();
  const apiUrl = new URL('/api/v3', gone.url).href;
  await gone[Symbol.asyncDispose]();

  const { all } = await world.examine({ settings: { ...world.settings, apiUrl } });

  expect(all).toEqual([
    expect.objectContaining({
      status: 'problem',
      detail: expect.stringMatching(/^GitHub could not be asked: /),
    }),
  ]);
});

test.each([
  [20_000, 'warning', /^the clock here is (19|20|21) s fast$/],
  [-20_000, 'warning', /^the clock here is (19|20|21) s slow$/],
  [-600_000, 'problem', /s slow$/],
])('tells of a clock that is %i ms off', async (offMs, status, detail) => {
  await using world = await aWorld();

  const { of } = await world.examine({ clock: { nowMs: () => Date.now() + offMs } });

  expect(of('github clock')).toMatchObject({ status, detail: expect.stringMatching(detail) });
});

test.each([
  ['somewhere else', { url: 'https://other.example.com/api/github/webhooks' }, 'problem', /PUBLIC_URL says/],
  ['as a form', { contentType: 'form' }, 'problem', /sent as form/],
  ['unsigned', { secret: '' }, 'problem', /no secret is set/],
  ['to any certificate', { insecureSsl: true }, 'warning', /does not check the certificate/],
] as const)('tells of a webhook that goes %s', async (_, change, status, detail) => {
  await using world = await aWorld();
  world.github.setWebhook({ ...world.webhook, ...change });

  const { of } = await world.examine();

  expect(of('github webhook')).toMatchObject({
    ...{ status, detail: expect.stringMatching(detail) },
    hint: expect.stringContaining(`${world.github.url}/settings/apps/slipway`),
  });
});

test('without PUBLIC_URL judges the path of the webhook alone', async () => {
  await using world = await aWorld();
  const judged = async () => (await world.examine({ publicUrl: null })).of('github webhook');

  expect(await judged()).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining('PUBLIC_URL is not set'),
  });
  world.github.setWebhook({ ...world.webhook, url: `${world.publicUrl}/webhooks` });
  expect(await judged()).toMatchObject({
    status: 'problem',
    detail: expect.stringContaining('does not end in'),
  });
});

test('tells of a webhook that is not set', async () => {
  await using world = await aWorld();
  world.github.setWebhook(null);

  expect((await world.examine()).of('github webhook')?.detail).toBe('no URL is set: nothing is sent');
});

test('names a secret that differs, as the inbox itself answers to it', async () => {
  await using world = await aWorld();
  await using temp = await tempDatabase();
  const { database } = temp;
  await using served = await serveInbox(
    createInbox({
      ...{ webhookSecret, transactions: database, clock: aClock(), onStored: () => undefined },
      store: createInboxStore(database),
    }),
  );
  world.github.setWebhook({ url: served.url, secret: 'another' });
  await world.github.addRepository({ owner: 'acme', name: 'dns', files: { a: '1' } });

  const { of } = await world.examine({ publicUrl: new URL(served.url).origin });

  expect(of('github deliveries')).toMatchObject({
    status: 'problem',
    detail: expect.stringMatching(/was answered 401$/),
    hint: expect.stringMatching(/^WEBHOOK_SECRET here and .* differ\..*\/settings\/apps\/slipway\/advanced$/),
  });
});

test.each([
  [404, /Something else answers/],
  [301, /follows no redirect/],
  [403, /proxy/],
  [413, /25 MB/],
  [503, /disk/],
  [500, /log of the server/],
])('says what to do when deliveries are answered %i', async (status, hint) => {
  await using world = await aWorld();
  world.receiver.answer.status = status;
  await world.github.addRepository({ owner: 'acme', name: 'dns', files: { a: '1' } });

  expect((await world.examine()).of('github deliveries')).toMatchObject({
    status: 'problem',
    detail: expect.stringContaining(`was answered ${status}`),
    hint: expect.stringMatching(hint),
  });
});

test('tells of a server that GitHub cannot reach, and later that it was away', async () => {
  await using world = await aWorld();
  const gone = await startReceiver();
  await gone[Symbol.asyncDispose]();
  world.github.setWebhook({ ...world.webhook, url: gone.url });
  const repository = await world.github.addRepository({ owner: 'acme', name: 'dns', files: { a: '1' } });

  const away = (await world.examine()).of('github deliveries');
  world.github.setWebhook(world.webhook);
  await world.github.setInstalled(repository, false);
  const back = (await world.examine()).of('github deliveries');

  expect(away).toMatchObject({
    status: 'problem',
    hint: expect.stringContaining('cannot reach this server'),
  });
  expect(back).toMatchObject({
    status: 'warning',
    detail: expect.stringMatching(/but 1 of the last 4 failed$/),
  });
});

test('says that nothing was ever delivered', async () => {
  await using world = await aWorld();
  world.github.deliveries.length = 0;

  expect((await world.examine()).of('github deliveries')).toMatchObject({
    status: 'warning',
    detail: 'none yet',
  });
});

test('tells of an App that is installed nowhere', async () => {
  await using world = await aWorld();
  await world.github.uninstallApp('acme');

  expect((await world.examine()).of('github installations')).toMatchObject({
    status: 'warning',
    hint: expect.stringContaining('/apps/slipway/installations/new'),
  });
});

test('tells for each installation what was not accepted, is suspended, or empty', async () => {
  await using world = await aWorld();
  const { github, installation } = world;
  for (const login of ['paused', 'bare']) {
    github.addAccount({ login, type: 'Organization' });
    await github.installApp(login);
  }
  await github.suspendApp('paused', true);
  installation.permissions = { ...asked.permissions, checks: 'read' };
  installation.events = asked.events.filter((event) => event !== 'push');

  const { of, unwell } = await world.examine();

  expect(unwell).toEqual(['github on acme', 'github on paused', 'github on bare']);
  expect(of('github on acme')).toMatchObject({
    status: 'problem',
    detail: `checks write is not accepted: ${permissionUses['checks']}; push does not come: ${eventUses['push']}`,
    hint: expect.stringContaining(`/organizations/acme/settings/installations/${installation.id}`),
  });
  expect(of('github on paused')?.detail).toBe('suspended: nothing works there');
  expect(of('github on bare')?.detail).toBe('no repository is selected');
});

test('finds out by reading what is granted and yet refused', async () => {
  await using world = await aWorld();
  world.github.failNext({ pathPattern: /\/repos\/acme\/infra\/pulls$/, status: 403 });

  expect((await world.examine()).of('github on acme')).toMatchObject({
    status: 'problem',
    detail: 'granted, and yet refused when acme/infra was read: pull_requests',
  });
});

test('takes a limit for no refusal', async () => {
  await using world = await aWorld();
  const headers = { 'retry-after': '60' };
  world.github.failNext({ pathPattern: /\/repos\/acme\/infra\/pulls$/, status: 403, headers });

  expect((await world.examine()).unwell).toEqual([]);
});

test('says where nothing private could be tried', async () => {
  await using world = await aWorld();
  world.github.addAccount({ login: 'open', type: 'Organization' });
  await world.github.installApp('open');
  await world.github.addRepository({ owner: 'open', name: 'site', files: { a: '1' }, private: false });

  expect((await world.examine()).of('github on open')).toMatchObject({
    ...{ status: 'ok', detail: expect.stringContaining('without a private repository nothing was tried') },
  });
});
