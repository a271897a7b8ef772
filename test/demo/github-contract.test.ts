import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Octokit } from '@octokit/rest';
import { expect, test } from 'vitest';
import { operationNames, violationOf } from '../../demo/github/contract/contract.ts';
import { startGithub } from './stand-in.ts';

const checks = '/repos/acme/infra/check-runs';
const aCheck = { name: 'slipway/net', head_sha: 'abc' };
const ask = (line: string, query: Record<string, string> = {}, body: unknown = null) => {
  const [method = '', path = ''] = line.split(' ');
  return violationOf({ method, path, query, body });
};

test.each([
  [`POST ${checks}`, {}, aCheck],
  [`POST ${checks}`, {}, { ...aCheck, status: 'completed', conclusion: 'success' }],
  [`POST ${checks}`, {}, { ...aCheck, output: { title: 't', summary: 's'.repeat(65_535) } }],
  ['GET /repos/acme/infra/commits/feature/a/check-runs', { per_page: '100', filter: 'all' }, null],
  ['GET /app/hook/deliveries', { status: 'failure', cursor: 'v1_1' }, null],
  ['POST /app/hook/deliveries/7/attempts', {}, {}],
  ['POST /repos/acme/infra/issues/comments/7/reactions', {}, { content: 'eyes' }],
  ['POST /login/oauth/access_token', {}, { anything: 1 }],
] as const)('bears %s %o', (line, query, body) => {
  expect(ask(line, query, body)).toBeNull();
});

test.each([
  [`POST ${checks}`, {}, null, 'the body is missing'],
  [`POST ${checks}`, {}, { name: 'x' }, "required property 'head_sha'"],
  [`POST ${checks}`, {}, { ...aCheck, status: 'done' }, 'one of the allowed values'],
  [`POST ${checks}`, {}, { ...aCheck, externalId: '1' }, 'there is no externalId'],
  [`POST ${checks}`, {}, { ...aCheck, output: { title: 't' } }, "required property 'summary'"],
  [
    `POST ${checks}`,
    {},
    { ...aCheck, output: { title: 't', summary: 's'.repeat(65_536) } },
    'more than 65535',
  ],
  [
    `PATCH ${checks}/7`,
    {},
    { actions: [{ label: 'x'.repeat(21), description: 'd', identifier: 'i' }] },
    'more than 20 characters',
  ],
  ['GET /app/hook/deliveries', { status: 'failed' }, null, 'query status'],
  ['GET /app/installations', { per_page: 'many' }, null, 'query per_page'],
  ['GET /app/installations', { perPage: '100' }, null, 'no query parameter perPage'],
  ['POST /app/hook/deliveries/7/attempts', {}, { id: 7 }, 'it takes no body'],
  [
    'POST /repos/acme/infra/issues/comments/7/reactions',
    {},
    { content: 'smile' },
    'one of the allowed values',
  ],
  ['POST /repos/acme/infra/deployments', {}, { ref: 1 }, 'must be string'],
] as const)('refuses %s %o %o', (line, query, body, why) => {
  expect(ask(line, query, body)).toContain(why);
});

test('is kept by the stand-in: such a request is answered 422, and its end says so', async () => {
  await using started = await startGithub();
  const { github } = started;
  const response = await fetch(`${github.url}/api/v3/app/installations?perPage=1`);

  expect(response.status).toBe(422);
  expect(github.violations).toEqual(['GET /app/installations: there is no query parameter perPage']);

  const strict = await startGithub({ bearsViolations: false });
  await fetch(`${strict.github.url}/app/installations?perPage=1`);
  await expect(strict[Symbol.asyncDispose]()).rejects.toThrow('no query parameter perPage');
});

test('knows every operation that the product calls', () => {
  const src = join(import.meta.dirname, '../../src/github');
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  const text = files.map((path) => readFileSync(join(src, path), 'utf8')).join('\n');
  const { rest } = new Octokit();
  const named = [...text.matchAll(/\brest\.(\w+)\.(\w+)/g)].map(([, scope = '', method = '']) => {
    const scopes = rest as unknown as Record<string, Record<string, typeof rest.repos.get>>;
    const { method: verb, url } = scopes[scope]?.[method]?.endpoint.DEFAULTS ?? {};
    return `${verb} ${url}`;
  });
  const written = [...text.matchAll(/request\(\s*'([A-Z]+ \/[^']*)'/g)].map(([, name = '']) => name);

  expect(named.length).toBeGreaterThan(10);
  expect(written.length).toBeGreaterThan(3);
  expect([...new Set([...named, ...written])].filter((name) => !operationNames.includes(name))).toEqual([]);
});
