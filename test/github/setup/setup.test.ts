import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, test } from 'vitest';
import { credentialNames } from '../../../src/config/github.ts';
import { createApiBudget } from '../../../src/github/api-budget.ts';
import { readAppDefinition } from '../../../src/github/app-definition.ts';
import { createGithubApp } from '../../../src/github/github-app.ts';
import { createCredentialsFile } from '../../../src/github/setup/credentials-file.ts';
import { registerApp, type SetupOptions } from '../../../src/github/setup/setup.ts';
import { tempDirectory } from '../../support/temp-database.ts';
import { aClock, silent, startGithub } from '../support.ts';
import { formOf, isListening, sendToGithub, statusUnderHost, visit } from './browser.ts';

const publicUrl = 'https://slipway.example.com';

/** A set-up that runs against a stand-in, up to its end or to the end of the test. */
async function startSetup(change: Partial<SetupOptions> & { isForced?: boolean; env?: string } = {}) {
  const started = await startGithub();
  const { github, apiUrl } = started;
  const directory = tempDirectory();
  const envPath = join(directory.path, '.env');
  if (change.env !== undefined) writeFileSync(envPath, change.env, { mode: 0o644 });
  const interrupt = new AbortController();
  const listening = Promise.withResolvers<{ link: string; port: number }>();
  const registered = registerApp({
    definition: readAppDefinition(),
    name: 'Slipway <of> "acme" & others',
    organisation: null,
    publicUrl,
    github: { webUrl: github.url, apiUrl },
    port: 0,
    timeoutMs: 60_000,
    signal: interrupt.signal,
    credentials: createCredentialsFile({
      directory: directory.path,
      settings: { PUBLIC_URL: publicUrl },
      credentialNames,
      isForced: change.isForced ?? false,
    }),
    onListening: (link, port) => listening.resolve({ link, port }),
    ...change,
  });
  registered.catch(listening.reject);
  const { link, port } = await listening.promise.catch(async (error) => {
    await started[Symbol.asyncDispose]();
    directory[Symbol.dispose]();
    throw error;
  });
  return {
    ...{ github, apiUrl, link, port, registered, interrupt, envPath, directory: directory.path },
    origin: new URL(link).origin,
    form: async () => formOf((await visit(link)).text),
    conversions: () => github.requests.filter(({ path }) => path.startsWith('/app-manifests/')),
    async [Symbol.asyncDispose]() {
      interrupt.abort();
      await registered.catch(() => undefined);
      await started[Symbol.asyncDispose]();
      directory[Symbol.dispose]();
    },
  };
}

type Setup = Awaited<ReturnType<typeof startSetup>>;

/** As far as GitHub's way back, which is not taken. */
const wayBack = async (setup: Setup): Promise<string> => sendToGithub(await setup.form());

describe('registering the App', () => {
  test('writes credentials that work, keeps the rest of .env, shows no secret, and ends', async () => {
    await using setup = await startSetup({ env: '# mine\nPORT=4000\nAPP_ID=\nPRIVATE_KEY=\n' });
    const { github, envPath, apiUrl } = setup;

    const page = await visit(setup.link);
    const done = await visit(await sendToGithub(formOf(page.text)));
    const registered = await setup.registered;

    const env = parseEnv(readFileSync(envPath, 'utf8'));
    const privateKey = readFileSync(registered.privateKeyPath, 'utf8');
    expect(env).toEqual({
      PORT: '4000',
      PUBLIC_URL: publicUrl,
      APP_ID: String(github.app.id),
      PRIVATE_KEY: '',
      PRIVATE_KEY_PATH: `slipway-${github.app.id}.private-key.pem`,
      WEBHOOK_SECRET: expect.stringMatching(/^.{20,}$/),
      GITHUB_CLIENT_ID: github.app.clientId,
      GITHUB_CLIENT_SECRET: github.app.clientSecret,
    });
    expect(readFileSync(envPath, 'utf8')).toMatch(/^# mine\nPORT=4000\nAPP_ID=\d+\n/);
    for (const path of [envPath, registered.privateKeyPath]) expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(setup.directory)).toHaveLength(2);
    using app = await createGithubApp(
      { appId: registered.appId, privateKey, webhookSecret: env['WEBHOOK_SECRET'] ?? '', apiUrl },
      createApiBudget({ clock: aClock() }),
      silent,
    );
    const { data } = await (await app.asApp()).request('GET /app');
    const definition = readAppDefinition();
    expect(data).toMatchObject({
      name: 'Slipway <of> "acme" & others',
      permissions: definition.permissions,
      events: definition.events,
    });

    expect(done.status).toBe(200);
    expect(done.text).toContain(registered.installUrl);
    for (const secret of [env['WEBHOOK_SECRET'] ?? '?', github.app.clientSecret, 'PRIVATE KEY']) {
      expect(page.text + done.text + JSON.stringify(registered)).not.toContain(secret);
    }
    expect(await isListening(setup.port)).toBe(false);
  });

  test('asks for what app.yml says, where the server is', async () => {
    await using setup = await startSetup({ organisation: 'acme' });

    const { action, fields } = await setup.form();

    expect(action).toMatch(/\/organizations\/acme\/settings\/apps\/new\?state=[\w-]{43}$/);
    const { permissions, events } = readAppDefinition();
    expect(JSON.parse(fields['manifest'] ?? '')).toEqual({
      name: 'Slipway <of> "acme" & others',
      url: publicUrl,
      hook_attributes: { url: `${publicUrl}/api/github/webhooks`, active: true },
      redirect_url: `${setup.origin}/callback`,
      setup_url: publicUrl,
      callback_urls: [`${publicUrl}/login/callback`],
      public: false,
      default_permissions: permissions,
      default_events: events,
    });
  });

  test('answers with headers that keep the page to itself', async () => {
    await using setup = await startSetup();

    const [page, other] = [await visit(setup.link), await visit(`${setup.origin}/`)];

    for (const { headers } of [page, other]) {
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('content-security-policy')).toContain(
        `form-action 'self' ${setup.github.url}; frame-ancestors 'none'`,
      );
    }
    const nonce = /style-src 'nonce-([^']+)'/.exec(page.headers.get('content-security-policy') ?? '')?.[1];
    expect(page.text).toContain(`<style nonce="${nonce}">`);
    expect(page.text).not.toMatch(/<script|onclick|<of>/);
  });

  test('is found by nobody without the word in the link', async () => {
    await using setup = await startSetup();
    const { origin, link } = setup;

    const wrong = [
      '/',
      '/x',
      `${link.slice(origin.length, -1)}`,
      `${link.slice(origin.length)}x`,
      '/x/again',
    ];

    for (const path of wrong) expect((await visit(`${origin}${path}`)).status, path).toBe(404);
    expect((await visit(`${origin}/x/again`, 'POST')).status).toBe(404);
    expect((await visit(link)).status).toBe(200);
  });

  test('answers under no other name, as a page that rebinds its name would use', async () => {
    await using setup = await startSetup();
    const { link, port } = setup;

    expect(await statusUnderHost(link, `127.0.0.1:${port}`)).toBe(200);
    for (const host of [`evil.example:${port}`, `localhost:${port}`, '127.0.0.1', `127.0.0.1:${port + 1}`]) {
      expect(await statusUnderHost(link, host), host).toBe(421);
    }
  });
});

describe('the way back from GitHub', () => {
  test.each(['', '?code=abc', '?code=abc&state=', '?code=abc&state=guessed'])(
    'is refused without the state of a form: %s',
    async (query) => {
      await using setup = await startSetup();

      expect((await visit(`${setup.origin}/callback${query}`)).status).toBe(403);
      expect(setup.conversions()).toEqual([]);
    },
  );

  test('is refused a second time, and another App after the first', async () => {
    await using setup = await startSetup();
    const [first, second] = [await wayBack(setup), await wayBack(setup)];
    // A foreign code with a state that was used.
    setup.github.failNext({ pathPattern: /conversions$/, status: 503 });
    const failed = await visit(first);

    const replayed = await visit(first);
    const other = await visit(second);

    expect([failed.status, replayed.status, other.status]).toEqual([502, 403, 409]);
    expect(setup.conversions()).toHaveLength(1);
    expect((await visit(setup.link)).status).toBe(409);
  });

  test('makes one App of two that come at the same moment', async () => {
    await using setup = await startSetup();
    const ways = [await wayBack(setup), await wayBack(setup)];

    const pages = await Promise.all(ways.map((way) => visit(way)));
    await setup.registered;

    expect(pages.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect(setup.conversions()).toHaveLength(1);
  });

  test.each([404, 422, 403])('begins again after GitHub refused the code: %i', async (status) => {
    await using setup = await startSetup();
    setup.github.failNext({ pathPattern: /conversions$/, status });

    const refused = await visit(await wayBack(setup));
    const done = await visit(await wayBack(setup));

    expect(refused.status).toBe(502);
    expect(refused.text).toContain(`href="${new URL(setup.link).pathname}"`);
    expect(done.status).toBe(200);
    expect((await setup.registered).appId).toBe(setup.github.app.id);
  });

  test('tries again with the same code while GitHub does not answer', async () => {
    await using setup = await startSetup();
    setup.github.failNext({ pathPattern: /conversions$/, status: 502, times: 2 });

    const failed = await visit(await wayBack(setup));
    const again = `${setup.origin}${formOf(failed.text).action}`;
    const failedAgain = await visit(again, 'POST');
    const done = await visit(again, 'POST');

    expect([failed.status, failedAgain.status, done.status]).toEqual([502, 502, 200]);
    expect(new Set(setup.conversions().map(({ path }) => path)).size).toBe(1);
    await setup.registered;
  });

  test('sends no strange code anywhere', async () => {
    await using setup = await startSetup();
    const { action } = await setup.form();
    const state = new URL(action).searchParams.get('state');

    const answer = await visit(`${setup.origin}/callback?state=${state}&code=..%2F..%2Fapp`);

    expect(answer.status).toBe(502);
    expect(setup.conversions()).toEqual([]);
  });

  test('keeps the credentials for another try when they cannot be written', async () => {
    await using setup = await startSetup();
    const way = await wayBack(setup);
    rmSync(setup.directory, { recursive: true });

    const failed = await visit(way);
    mkdirSync(setup.directory);
    const done = await visit(`${setup.origin}${formOf(failed.text).action}`, 'POST');

    expect(failed.text).toContain('cannot be written (ENOENT)');
    expect(done.status).toBe(200);
    expect(readdirSync(setup.directory)).toHaveLength(2);
    expect(setup.conversions()).toHaveLength(1);
  });
});

describe('a set-up that does not begin, or ends early', () => {
  test.each([
    ['already-registered', 'APP_ID=12\n'],
    ['already-registered', 'WEBHOOK_SECRET=x\n'],
  ])('%s: before GitHub is told anything', async (code, env) => {
    await expect(startSetup({ env })).rejects.toMatchObject({ code });
  });

  test('replaces credentials when it is told to', async () => {
    const env = 'APP_ID=12\nPRIVATE_KEY="-----BEGIN\nx\n-----END"\nWEBHOOK_SECRET=old\n';
    await using setup = await startSetup({ isForced: true, env });

    await visit(await wayBack(setup));
    await setup.registered;

    const written = readFileSync(setup.envPath, 'utf8');
    expect(parseEnv(written)).toMatchObject({ APP_ID: String(setup.github.app.id), PRIVATE_KEY: '' });
    expect(written).not.toMatch(/old|BEGIN/);
  });

  test('ends by itself after its time', async () => {
    await using setup = await startSetup({ timeoutMs: 20 });

    await expect(setup.registered).rejects.toMatchObject({ code: 'setup-timed-out' });
    expect(await isListening(setup.port)).toBe(false);
  });

  test('ends at once when it is interrupted, a request under way included', async () => {
    await using setup = await startSetup();
    setup.interrupt.abort();

    await expect(setup.registered).rejects.toMatchObject({ code: 'interrupted' });
    expect(await isListening(setup.port)).toBe(false);
    expect(readdirSync(setup.directory)).toEqual([]);
  });

  test('says when its port is taken', async () => {
    await using setup = await startSetup();

    await expect(startSetup({ port: setup.port })).rejects.toMatchObject({ code: 'cannot-listen' });
  });
});
