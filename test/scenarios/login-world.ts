import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogin } from '../../src/access/login.ts';
import type { LoginJudge } from '../../src/access/login-judge.ts';
import { systemClock } from '../../src/clock.ts';
import { createUserLogin } from '../../src/github/user-login.ts';
import { createIds } from '../../src/ids.ts';
import { createSourceCheck } from '../../src/policies/check-source.ts';
import { createJudging } from '../../src/policies/judging.ts';
import { createLoginJudge } from '../../src/policies/login-judge.ts';
import { createOpa } from '../../src/policies/opa.ts';
import { createPolicies } from '../../src/policies/policies.ts';
import { createBubblewrap } from '../../src/sandbox/bubblewrap.ts';
import { closeInheritedDescriptors } from '../../src/sandbox/descriptors.ts';
import { createDecisionStore } from '../../src/storage/decision-store.ts';
import { createPolicyStore } from '../../src/storage/policy-store.ts';
import { createSampleStore } from '../../src/storage/sample-store.ts';
import { createSecretBox } from '../../src/storage/secret-box.ts';
import { findTool, toolCacheDir } from '../../src/tools.ts';
import { silent, startGithub } from '../github/support.ts';
import { aPolicy } from '../support/policies.ts';
import { openBrowser } from '../web/ui/browser.ts';

const { PATH = '', OPA_PATH, XDG_CACHE_HOME } = process.env;
const found = findTool('opa', {
  setting: OPA_PATH,
  path: PATH,
  cacheDir: toolCacheDir(homedir(), XDG_CACHE_HOME),
});
if (!found) throw new Error('These tests need opa: run `npm run setup -- --with opa`.');
const opaPath = found.path;
// What the tests' own runner left open would be open inside the sandbox too.
closeInheritedDescriptors();

/**
 * Logging in as it is: the stand-in GitHub says who it is over HTTP, the real opa judges, the server's own pages answer.
 * `eve` is in the team acme/platform and sees a repository of acme; `root-ada` is in ADMINS.
 */
export async function openLogins({ enginePath = opaPath as string | null } = {}) {
  await using opening = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), 'slipway-login-'));
  opening.defer(() => rmSync(directory, { recursive: true, force: true }));
  const started = opening.use(await startGithub());
  const { github, apiUrl } = started;
  await github.acceptPermissions('acme', { ...github.app.permissions, members: 'read' });
  for (const login of ['eve', 'root-ada']) {
    github.addUser({ login, name: login, email: `${login}@example.com` });
  }
  const repository = await github.addRepository({ owner: 'acme', name: 'infra' });
  github.setPermission(repository, 'eve', 'read');
  github.addTeam({ organization: 'acme', slug: 'platform', members: ['eve'] });

  let judge: LoginJudge | null = null;
  const { clientId, clientSecret } = github.app;
  const browser = opening.use(
    openBrowser({
      login: createLogin(createUserLogin({ clientId, clientSecret, webUrl: github.url, apiUrl })),
      judge: { judge: (...asked) => judge?.judge(...asked) ?? Promise.reject(new Error('too early')) },
    }),
  );
  const { installation } = browser;
  const { database, sessions, stackStore, repositories } = installation;
  const sandbox = createBubblewrap({ directory: join(directory, 'sandbox') });
  const opa = createOpa({ path: enginePath, sandbox, directory: join(directory, 'policies') });
  const box = createSecretBox(randomBytes(32));
  const newId = createIds(systemClock);
  const store = createPolicyStore(database);
  const decisions = createDecisionStore(database, box, { clock: systemClock, newId });
  judge = createLoginJudge({
    ...{ policies: store, decisions },
    judging: createJudging({ engine: opa, clock: systemClock, logger: silent }),
    isKnownAccount: async (login) =>
      (await repositories.listAccounts({ login, after: 0, limit: 1 })).length > 0,
  });
  const policies = createPolicies({
    ...{ store, stacks: stackStore, transactions: database, clock: systemClock, newId },
    check: createSourceCheck(opa),
    onChanged: async () => undefined,
    onLoginPolicyChanged: (tx, by) => sessions.endOthers(tx, by),
  });
  await installation.addStack('Network');
  await installation.addStack('DNS');

  /** As it is kept already: the engine is not asked. */
  const keep = (name: string, rego: string) => {
    const source = { body: bodyOf(rego), rules: rulesOf(rego) };
    return database.write((tx) =>
      store.insert(tx, aPolicy({ id: newId(), account: null, kind: 'LOGIN', name, ...source })),
    );
  };
  const add = (name: string, rego: string) =>
    policies.create(
      {
        ...{ account: null, kind: 'LOGIN', name, description: '' },
        ...{ labels: [], regoVersion: 1 },
        body: bodyOf(rego),
      },
      { kind: 'operator' },
    );

  /** Through GitHub and back. */
  async function logIn(login: string) {
    github.signInAs(login);
    const out = await browser.visit('/login/github?return_to=/account');
    const atGithub = await fetch(out.location ?? '', { redirect: 'manual' });
    const back = new URL(atGithub.headers.get('location') ?? 'none:');
    return browser.visit(`${back.pathname}${back.search}`, {}, '198.51.100.7');
  }

  async function statusOf(method: string, path: string, body = '{}') {
    const headers = { 'content-type': 'application/json', 'x-form-token': await browser.formToken() };
    const init = method === 'GET' ? {} : { method, headers, body };
    return (await browser.visit(path, init)).answer.status;
  }

  const parts = opening.move();
  return {
    ...{ github, browser, installation, policies, keep, add, logIn, statusOf, decisions },
    samples: createSampleStore(database, box),
    /** Whoever is logged in in the browser; null: nobody. */
    session: async () => sessions.authenticate(browser.jar.get('__Host-slipway') ?? ''),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

export type Logins = Awaited<ReturnType<typeof openLogins>>;

const bodyOf = (rego: string): string => `package slipway\n\n${rego}\n`;
const rulesOf = (rego: string): string[] =>
  ['allow', 'admin', 'deny', 'roles', 'sample'].filter((rule) => new RegExp(`^${rule}\\b`, 'm').test(rego));
