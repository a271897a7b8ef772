import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Actor } from '../../src/access/actor.ts';
import { fillInstallation } from './filled-installation.ts';
import { anInstallation, apiRequest, type Installation } from './installation.ts';

/**
 * Every route of the OpenAPI document with every kind of caller. A new route is in the document by itself; this
 * test fails until somebody says here who may call it.
 */
type Need =
  | 'nobody'
  | 'token'
  | 'logged-in'
  | 'all-accounts'
  | 'reader'
  | 'person'
  | 'writer'
  | 'admin'
  | 'any-account-admin'
  | 'account-admin'
  | 'instance';

const stack = '/api/v1/stacks/{account}/{stack}';
const run = '/api/v1/runs/{run}';
const webhook = '/api/v1/webhooks/{webhook}';
const policy = '/api/v1/policies/{policy}';
const body = 'deny: []';
const newPolicy = { name: 'another', kind: 'PLAN', account: 'acme', body };
const vendor = { pulumi: { loginUrl: 'file:///state', stackName: 'dev' } };

/** Route, who may, and a body that is fine where one is needed. */
const table: readonly (readonly [string, Need, body?: unknown])[] = [
  ['GET /healthz', 'nobody'],
  ['GET /readyz', 'nobody'],
  ['GET /metrics', 'all-accounts'],
  ['GET /api/v1/openapi.json', 'nobody'],
  // Signed, not authenticated; without GitHub settings it is 503 for everybody.
  ['POST /api/github/webhooks', 'nobody', {}],
  ['GET /api/v1/stacks', 'token'],
  ['GET /api/v1/repositories', 'token'],
  ['GET /api/v1/accounts', 'token'],
  ['GET /api/v1/app', 'token'],
  ['GET /api/v1/sessions', 'logged-in'],
  ['DELETE /api/v1/sessions/{session}', 'logged-in'],
  ['GET /api/v1/vendors', 'token'],
  ['GET /api/v1/stacks/counts', 'token'],
  ['GET /api/v1/runs', 'token'],
  ['GET /api/v1/events', 'token'],
  // Shows the stacks that they administer.
  ['GET /api/v1/audit', 'token'],
  ['GET /api/v1/notices', 'token'],
  ['POST /api/v1/modules', 'token'],
  ['POST /api/v1/stacks', 'admin', { name: 'Another', repository: 'acme/infra', vendor }],
  [`GET ${stack}`, 'reader'],
  [`PATCH ${stack}`, 'admin', { description: 'changed' }],
  [`DELETE ${stack}`, 'admin'],
  [`GET ${stack}/environment`, 'reader'],
  [`PUT ${stack}/environment/{name}`, 'admin', { value: 'eu-west-1' }],
  [`DELETE ${stack}/environment/{name}`, 'admin'],
  [`PUT ${stack}/lock`, 'writer', {}],
  [`DELETE ${stack}/lock`, 'writer'],
  [`GET ${stack}/runs`, 'reader'],
  [`POST ${stack}/runs`, 'writer', { type: 'TRACKED' }],
  [`GET ${stack}/webhooks`, 'reader'],
  [`POST ${stack}/webhooks`, 'admin', { endpoint: 'https://receiver.example/other' }],
  [`GET ${run}`, 'reader'],
  [`GET ${run}/states`, 'reader'],
  [`GET ${run}/states/stream`, 'reader'],
  [`GET ${run}/commands`, 'reader'],
  [`GET ${run}/workflow`, 'reader'],
  [`GET ${run}/deliveries`, 'reader'],
  [`GET ${run}/changes`, 'reader'],
  [`GET ${run}/reviews`, 'reader'],
  [`GET ${run}/plan`, 'reader'],
  [`GET ${run}/changes-since-seen`, 'person'],
  [`PUT ${run}/seen`, 'person'],
  [`GET ${run}/logs`, 'reader'],
  [`GET ${run}/logs/end`, 'reader'],
  [`GET ${run}/logs/stream`, 'reader'],
  [`POST ${run}/approve`, 'writer', {}],
  [`POST ${run}/reject`, 'writer', {}],
  [`POST ${run}/override`, 'admin', { reason: 'agreed' }],
  [`GET ${run}/overrides`, 'reader'],
  [`GET ${run}/explanation`, 'reader'],
  [`POST ${run}/mend`, 'admin'],
  [`POST ${run}/confirm`, 'writer', {}],
  [`POST ${run}/discard`, 'writer', {}],
  [`POST ${run}/cancel`, 'writer', {}],
  [`POST ${run}/stop`, 'writer', {}],
  [`POST ${run}/prioritize`, 'writer', {}],
  [`POST ${run}/retry`, 'writer', {}],
  [`GET ${webhook}`, 'reader'],
  [`PATCH ${webhook}`, 'admin', { enabled: true }],
  [`DELETE ${webhook}`, 'admin'],
  [`POST ${webhook}/secret/regenerate`, 'admin', {}],
  [`DELETE ${webhook}/secret/old`, 'admin'],
  [`GET ${webhook}/deliveries`, 'reader'],
  [`POST ${webhook}/test`, 'admin'],
  [`POST ${webhook}/replay`, 'writer', { since: 0 }],
  [`GET ${webhook}/replays`, 'reader'],
  [`POST ${webhook}/replays/{replay}/cancel`, 'writer'],
  ['GET /api/v1/policies', 'token'],
  ['POST /api/v1/policies', 'account-admin', newPolicy],
  ['POST /api/v1/policies/check', 'any-account-admin', { kind: 'PLAN', body }],
  [`GET ${policy}`, 'reader'],
  [`PUT ${policy}`, 'account-admin', { description: 'changed' }],
  [`DELETE ${policy}`, 'account-admin'],
  [`GET ${policy}/versions`, 'reader'],
  [`GET ${policy}/stacks`, 'reader'],
  [`GET ${policy}/decisions`, 'account-admin'],
  [`GET ${policy}/samples`, 'account-admin'],
  [`POST ${policy}/simulate`, 'account-admin', { input: {} }],
  [`POST ${policy}/simulate-runs`, 'account-admin', {}],
  ['GET /api/v1/samples/{sample}', 'account-admin'],
  [`GET ${run}/policies`, 'reader'],
  [`GET ${stack}/policies`, 'reader'],
  [`GET ${stack}/attachable-policies`, 'admin'],
  [`PUT ${stack}/policies/{policy}`, 'admin'],
  [`DELETE ${stack}/policies/{policy}`, 'admin'],
  ['GET /api/v1/system', 'instance'],
  ['GET /api/v1/tokens', 'instance'],
  ['POST /api/v1/tokens', 'instance', { name: 'another', role: 'reader' }],
  ['DELETE /api/v1/tokens/{token}', 'instance'],
  ['GET /api/v1/inbox', 'instance'],
  ['GET /api/v1/inbox/{delivery}', 'instance'],
  ['GET /api/v1/inbox/{delivery}/body', 'instance'],
  ['POST /api/v1/inbox/{delivery}/replay', 'instance'],
  ['GET /api/v1/deliveries/{delivery}', 'reader'],
  ['GET /api/v1/deliveries/{delivery}/body', 'reader'],
  ['GET /api/v1/deliveries/{delivery}/curl', 'admin'],
  ['POST /api/v1/deliveries/{delivery}/resend', 'writer'],
];

/** The least powerful first, so that what is deleted is deleted last. */
const callers = [
  'anonymous',
  'wrong token',
  'token of another account',
  'person without access',
  'reader token',
  'person who reads',
  'writer token',
  'person who writes',
  'person who administers',
  'admin token of the account',
  'admin token',
  'instance admin',
  'operator',
] as const;
type Caller = (typeof callers)[number];

const rank: Readonly<Record<Need, number>> = {
  nobody: -1,
  token: 0,
  'logged-in': 0,
  'all-accounts': 0,
  reader: 1,
  person: 1,
  writer: 2,
  admin: 3,
  'any-account-admin': 3,
  'account-admin': 3,
  instance: 4,
};
const power: Readonly<Record<Caller, number>> = {
  anonymous: -1,
  'wrong token': -1,
  'token of another account': 0,
  'person without access': 0,
  'reader token': 1,
  'person who reads': 1,
  'writer token': 2,
  'person who writes': 2,
  'admin token of the account': 3,
  'person who administers': 3,
  'admin token': 4,
  'instance admin': 4,
  operator: 4,
};

const seesAllAccounts: ReadonlySet<Caller> = new Set([
  'writer token',
  'admin token',
  'instance admin',
  'operator',
]);

/** Some account, or all. */
const administersAccount: ReadonlySet<Caller> = new Set([
  'token of another account',
  'admin token of the account',
  'admin token',
  'instance admin',
  'operator',
]);

const people: ReadonlySet<Caller> = new Set([
  'person without access',
  'person who reads',
  'person who writes',
  'person who administers',
  'instance admin',
]);

/** 401 without a good token, 404 for what is not theirs (the inbox is nobody's but the instance's), 403 for what they may only read. */
function expected(need: Need, caller: Caller, route: string): 401 | 403 | 404 | 'allowed' {
  if (need === 'nobody') return 'allowed';
  if (power[caller] === -1) return 401;
  if (need === 'any-account-admin') return administersAccount.has(caller) ? 'allowed' : 403;
  if (need === 'account-admin' && power[caller] > 0) {
    return administersAccount.has(caller) ? 'allowed' : 403;
  }
  // Nothing that is there is asked for.
  if (need === 'account-admin' && !route.includes('{')) return 403;
  if (need === 'all-accounts') return seesAllAccounts.has(caller) ? 'allowed' : 403;
  if (need === 'logged-in') return people.has(caller) ? 'allowed' : 403;
  if (need === 'person' && power[caller] >= rank[need] && !people.has(caller)) return 403;
  if (power[caller] >= rank[need]) return 'allowed';
  return power[caller] === 0 || need === 'instance' ? 404 : 403;
}

async function prepared() {
  const installation = anInstallation();
  const { roles, token } = installation;
  for (const role of ['reader', 'writer', 'admin'] as const) roles.set(`${role}-person`, role);
  const tokens: Partial<Record<Caller, string>> = {
    'wrong token': 'slipway_nobody-has-this',
    'token of another account': await token('admin', 'globex'),
    'reader token': await token('reader', 'acme'),
    'writer token': await token('writer'),
    'admin token of the account': await token('admin', 'acme'),
    'admin token': await token('admin'),
  };
  const person = (login: string): Actor => ({ kind: 'person', login, email: `${login}@example.com` });
  const actors: Partial<Record<Caller, Actor>> = {
    'person without access': person('stranger'),
    'person who reads': person('reader-person'),
    'person who writes': person('writer-person'),
    'person who administers': person('admin-person'),
    'instance admin': person('Root-Ada'),
    operator: { kind: 'operator' },
  };

  const { pathOf } = await fillInstallation(installation);

  async function send(caller: Caller, method: string, template: string, body: unknown): Promise<Response> {
    const bearer = tokens[caller];
    const request = apiRequest(method, pathOf(template), { ...(bearer ? { token: bearer } : {}), body });
    const actor = actors[caller];
    return actor ? installation.web.fetchAs(actor, request) : installation.web.fetch(request);
  }
  return { installation, send, [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose]() };
}

async function documented(installation: Installation): Promise<{ routes: string[]; open: string[] }> {
  const response = await installation.web.fetch(apiRequest('GET', '/api/v1/openapi.json'));
  const { paths } = (await response.json()) as {
    paths: Record<string, Record<string, { security?: unknown }>>;
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security }]) => ({
      route: `${method.toUpperCase()} ${path}`,
      isOpen: security === undefined,
    })),
  );
  const open = operations.filter(({ isOpen }) => isOpen).map(({ route }) => route);
  return { routes: operations.map(({ route }) => route).sort(), open: open.sort() };
}

describe('who may call what', () => {
  it('is said for every route of the document', async () => {
    await using installation = anInstallation();

    const { routes, open } = await documented(installation);

    expect(routes).toEqual(table.map(([route]) => route).sort());
    expect(open).toEqual(
      table
        .filter(([, need]) => need === 'nobody')
        .map(([route]) => route)
        .sort(),
    );
  });

  it('is said the same in docs/api.md', () => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/api.md'), 'utf8');
    const rows = [...text.matchAll(/^\| `([A-Z]+ \/[^`]*)` \| ([\w-]+) \|/gm)].map(
      ([, route, who]) => `${route} ${who}`,
    );

    expect(rows.sort()).toEqual(table.map(([route, need]) => `${route} ${need}`).sort());
  });

  it.each(table.map(([route, need, body]) => ({ route, need, body })))(
    '$route needs $need',
    async ({ route, need, body }) => {
      await using fixture = await prepared();
      const [method = '', path = ''] = route.split(' ');

      const outcomes: Partial<Record<Caller, unknown>> = {};
      const wanted: Partial<Record<Caller, unknown>> = {};
      for (const caller of callers) {
        const response = await fixture.send(caller, method, path, body);
        await response.body?.cancel();
        const { status } = response;
        const isRefused = [401, 403, 404].includes(status);
        // What one caller deleted is not there for the next one, who would have been allowed too.
        const isGone = status === 404 && method === 'DELETE' && expected(need, caller, route) === 'allowed';
        outcomes[caller] = isRefused && !isGone ? status : 'allowed';
        wanted[caller] = expected(need, caller, route);
        if (status === 500) throw new Error(`500: ${JSON.stringify(fixture.installation.logged.at(-1))}`);
      }

      expect(outcomes).toEqual(wanted);
    },
  );
});
