import { generateKeyPairSync } from 'node:crypto';
import { createEmulator } from 'emulate';
import { describe, expect, test } from 'vitest';
import { createApiBudget } from '../../src/github/api-budget.ts';
import { readAppDefinition } from '../../src/github/app-definition.ts';
import { createFetchTokens } from '../../src/github/fetch-token.ts';
import { createGithubApp } from '../../src/github/github-app.ts';
import { statusOf } from '../../src/github/github-error.ts';
import { createPermissions } from '../../src/github/permissions.ts';
import { createPullRequestReader } from '../../src/github/pull-request-reader.ts';
import { createFileReader } from '../../src/github/repository-file/read-file.ts';
import { createGithubSource } from '../../src/github/source.ts';
import type { Repository } from '../../src/stacks/repository.ts';
import { aClock, silent } from './support.ts';

/**
 * A second GitHub, by other people than us: whether our App signs in as GitHub wants it, and whether app.yml asks for
 * enough. It has no git, no reactions, no deployments and no end of tokens; for those there is the stand-in.
 */
const { permissions, events } = readAppDefinition();
const installationId = 100;
const person = 'Bearer token-of-ada';
const repository: Repository = {
  id: 1,
  accountId: 1,
  installationId,
  fullName: 'acme/infra',
  defaultBranch: 'main',
  isPrivate: true,
};

async function startEmulate(granted: Readonly<Record<string, string>>) {
  await using opening = new AsyncDisposableStack();
  const emulator = await createEmulator({
    service: 'github',
    port: 0,
    seed: {
      tokens: { 'token-of-ada': { login: 'ada', scopes: ['repo'] } },
      github: {
        users: [{ login: 'ada' }, { login: 'bob' }],
        orgs: [{ login: 'acme', members: [{ login: 'ada', role: 'admin' }] }],
        repos: [{ owner: 'acme', name: 'infra', auto_init: true, private: true }],
        apps: [
          {
            ...{ app_id: 7, slug: 'slipway', name: 'Slipway', permissions: granted, events },
            installations: [
              { installation_id: installationId, account: 'acme', repository_selection: 'all' },
            ],
          },
        ],
      },
    },
  });
  opening.defer(() => emulator.close());
  const { url: apiUrl } = emulator;
  const privateKey = emulator.generatedSecrets.find(({ kind }) => kind === 'github.app_private_key')?.value;
  const settings = { appId: 7, privateKey: privateKey ?? '', webhookSecret: 'of no use here', apiUrl };
  const app = await createGithubApp(settings, createApiBudget({ clock: aClock() }), silent);
  opening.use(app);

  /** As Ada does it. */
  async function write(method: string, path: string, body: object): Promise<Record<string, unknown>> {
    const headers = { authorization: person, 'content-type': 'application/json' };
    const response = await fetch(`${apiUrl}/repos/acme/infra${path}`, {
      method,
      headers,
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`emulate answers ${response.status} to ${method} ${path}`);
    return (await response.json()) as Record<string, unknown>;
  }
  const content = (text: string) => Buffer.from(text).toString('base64');
  const file = { message: 'Add the file', content: content('version: 1\n') };
  const { commit } = await write('PUT', '/contents/.github/slipway.yml', file);
  const { sha } = commit as { sha: string };
  await write('POST', '/git/refs', { ref: 'refs/heads/feature', sha });
  await write('PUT', '/contents/a', { message: 'Change', content: content('1'), branch: 'feature' });
  await write('POST', '/pulls', { title: 'Change', head: 'feature', base: 'main' });

  const git = { webUrl: apiUrl, path: process.env['PATH'] ?? '', caBundle: null };
  const source = createGithubSource({ app, apiUrl, git, scratchDirectory: '/nonexistent', logger: silent });
  const pullRequests = createPullRequestReader({
    app,
    source,
    repositories: { find: async () => repository },
  });
  const opened = opening.move();
  return {
    ...{ app, apiUrl, sha, source, pullRequests },
    octokit: () => app.asInstallation(installationId),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
type World = Awaited<ReturnType<typeof startEmulate>>;

const name = { owner: 'acme', repo: 'infra' };

/** What the product does, by the permission without which it must fail. */
const deeds: readonly (readonly [
  permission: string,
  deed: string,
  act: (world: World) => Promise<unknown>,
])[] = [
  [
    'contents',
    'finds the head of a branch',
    async ({ octokit }) => (await octokit()).rest.repos.getBranch({ ...name, branch: 'main' }),
  ],
  ['contents', 'compares commits', ({ source, sha }) => source.compare(repository, sha, 'feature')],
  ['contents', 'reads the repository file', ({ app }) => createFileReader(app).isThere(repository)],
  ['pull_requests', 'asks how a pull request is', ({ pullRequests }) => pullRequests.find(1, 1)],
  [
    'checks',
    'makes a check run',
    async ({ octokit, sha }) =>
      (await octokit()).request('POST /repos/{owner}/{repo}/check-runs', {
        ...{ ...name, name: 'slipway/net', head_sha: sha, status: 'in_progress', external_id: 'run' },
        output: { title: 'Planning', summary: 'It goes on.' },
      }),
  ],
  [
    'checks',
    'looks for a check run that it made',
    async ({ octokit }) => (await octokit()).rest.checks.listForRef({ ...name, ref: 'main' }),
  ],
];

describe('the App at another GitHub than our stand-in', () => {
  test('signs in, as itself and as an installation', async () => {
    await using world = await startEmulate(permissions);

    const { data: own } = await (await world.app.asApp()).request('GET /app');
    const { data: installations } = await (await world.app.asApp()).request('GET /app/installations');
    const { data: seen } = await (await world.octokit()).request('GET /repos/{owner}/{repo}', name);

    expect(own).toMatchObject({ id: 7, slug: 'slipway' });
    expect(installations).toMatchObject([{ id: installationId, permissions }]);
    expect(seen).toMatchObject({ full_name: 'acme/infra', private: true });
  });

  test('is refused with a key that is not of this App', async () => {
    await using world = await startEmulate(permissions);
    const privateKey = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    }).privateKey;
    const settings = { appId: 7, privateKey, webhookSecret: 'of no use here', apiUrl: world.apiUrl };
    using stranger = await createGithubApp(settings, createApiBudget({ clock: aClock() }), silent);

    expect(await (await stranger.asApp()).request('GET /app').catch(statusOf)).toBe(401);
  });

  test('gets a token for a fetch that sees one repository and its contents', async () => {
    await using world = await startEmulate(permissions);
    const tokens = createFetchTokens({ ...world, logger: silent });
    const { token, fullName } = await tokens.mint(repository, new AbortController().signal);
    const ask = (path: string) =>
      fetch(`${world.apiUrl}/repos/acme/infra${path}`, { headers: { authorization: `Bearer ${token}` } });

    const [contents, pulls] = [await ask('/contents/.github/slipway.yml'), await ask('/pulls/1')];

    expect(fullName).toBe('acme/infra');
    expect([contents.status, pulls.status]).toEqual([200, 403]);
  });

  test('learns who may do what', async () => {
    await using world = await startEmulate(permissions);
    const { roleOf } = createPermissions({ app: world.app, clock: aClock() });

    expect(await roleOf({ login: 'ada' }, repository, true)).toBe('admin');
    expect(await roleOf({ login: 'bob' }, repository, true)).toBeNull();
  });

  test('cannot get more than app.yml asks for', async () => {
    await using world = await startEmulate(permissions);
    const { rest } = await world.app.asApp();
    const asked = { installation_id: installationId, permissions: { administration: 'write' } } as const;

    expect(await rest.apps.createInstallationAccessToken(asked).catch(statusOf)).toBe(422);
  });

  test.each(deeds)('%s: %s', async (permission, _, act) => {
    await using world = await startEmulate(permissions);
    const { [permission]: __, ...rest } = permissions;
    await using lesser = await startEmulate(rest);

    expect(await act(world)).toBeTruthy();
    // Otherwise its leave above would say nothing.
    await expect(act(lesser)).rejects.toThrow();
  });

  test.each([
    ['pull_requests', 'write', 'POST /repos/acme/infra/issues/1/comments'],
    ['issues', 'read', 'GET /repos/acme/infra/issues'],
  ])('%s: %s opens %s, and nothing less does', async (permission, level, request) => {
    const { [permission]: _, issues: __, pull_requests: ___, ...rest } = permissions;
    await using with_ = await startEmulate({ ...rest, [permission]: level });
    await using without = await startEmulate(rest);
    const ask = async ({ octokit }: World) =>
      (await octokit()).request(request, { body: 'Hello.' }).then(({ status }) => status, statusOf);

    expect(await ask(with_)).toBeLessThan(300);
    expect(await ask(without)).toBe(403);
  });
});
