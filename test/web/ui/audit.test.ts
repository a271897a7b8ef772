import { expect, test } from 'vitest';
import { noSubject } from '../../../src/access/audit-log.ts';
import { operationWords } from '../../../src/web/ui/pages/audit/audit-words.ts';
import { person } from '../../support/builders.ts';
import { anInstallation, apiRequest, call } from '../installation.ts';
import { openBrowser } from './browser.ts';
import { hostile, settings } from './settings/settings-world.ts';

/** Somebody looks at what grace did with a stack of acme and one of globex. */
async function opened(login = 'root-ada') {
  const all = openBrowser({}, { login });
  const { web, addStack } = all.installation;
  await addStack('Network Prod');
  await addStack('dns', 'globex/infra');
  all.installation.roles.set('grace', 'admin');
  for (const stack of ['acme/network-prod', 'globex/dns']) {
    await web.fetchAs(person('grace'), apiRequest('PUT', `/api/v1/stacks/${stack}/lock`, { body: {} }));
  }
  const path = '/api/v1/stacks/acme/network-prod/environment/AWS_REGION';
  await web.fetchAs(person('grace'), apiRequest('DELETE', path));
  await all.logIn();
  return { ...all, [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() };
}

/** Who, what, on which stack of each row. */
const rowsOf = (text: string): string[] =>
  [...text.matchAll(/<tr>\s*<td><time[\s\S]*?<\/tr>/g)].map(([row]) =>
    row
      .replace(/<time[\s\S]*?<\/time>/, '')
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  );

test('administrators of the instance see who did what where, in words', async () => {
  await using all = await opened();

  const { text } = await all.visit('/audit');

  expect(rowsOf(text)).toEqual([
    'root-ada Log in done web UI',
    'grace Remove a variable name AWS_REGION acme/network-prod refused 404 command line',
    'grace Lock the stack globex/dns done 204 command line',
    'grace Lock the stack acme/network-prod done 204 command line',
  ]);
  expect(text).toContain('<a href="/stacks/acme/network-prod">');
  expect((await all.visit('/system')).text).toContain('href="/audit"');
});

test('others see what concerns stacks that they administer, and are led there by their settings', async () => {
  await using all = await opened('ada');
  all.installation.roles.set('ada acme/infra', 'admin').set('ada globex/infra', 'writer');

  const { text } = await all.visit('/audit');
  const general = await all.visit(settings);
  const other = await all.visit('/stacks/globex/dns/settings');

  expect(rowsOf(text).map((row) => row.split(' ').slice(0, 3).join(' '))).toEqual([
    'grace Remove a',
    'grace Lock the',
  ]);
  expect(general.text).toContain('href="/audit?stack=acme%2Fnetwork-prod">Audit log</a>');
  expect(other.text).not.toContain('href="/audit');
});

test('who administers nothing sees nothing', async () => {
  await using all = await opened('ada');

  expect((await all.visit('/audit')).text).toContain('Nothing was changed yet on what you administer.');
});

const day = new Date(1_795_000_000_000).toISOString().slice(0, 10);

test.each([
  ['?stack=globex/dns', 1],
  ['?stack=dns', 1],
  ['?stack=acme/dns', 0],
  ['?account=acme', 2],
  ['?actor=Grace', 3],
  ['?actor=person:root-ada', 1],
  [`?since=${day}&until=${day}`, 4],
  ['?until=2020-01-01', 0],
  ['?since=2099-01-01', 0],
])('%s shows %i entries, and stays in the form', async (query, count) => {
  await using all = await opened();

  const { text } = await all.visit(`/audit${query}`);

  expect(rowsOf(text)).toHaveLength(count);
  for (const [name, value] of new URLSearchParams(query)) {
    expect(text).toMatch(new RegExp(`<input [^>]*name="${name}"[^>]* value="${value}"`));
  }
  expect(text.includes('No entry fits the filter.')).toBe(count === 0);
});

test('a day that is none is refused, not left out', async () => {
  await using all = await opened();

  const { answer, text } = await all.visit('/audit?since=yesterday');

  expect(answer.status).toBe(422);
  expect(text).toContain('since: a day such as 2026-11-22');
});

test('many entries come in pages that lead on and back', async () => {
  await using all = await opened();
  for (let n = 0; n < 55; n += 1) await all.installation.audit.begin(entry({ operation: `comment ${n}` }));

  const first = await all.visit('/audit?actor=mallory');
  const [, next = ''] = /<a href="([^"]+)" rel="next">/.exec(first.text) ?? [];
  const second = await all.visit(next.replaceAll('&amp;', '&'));

  expect([rowsOf(first.text).length, rowsOf(second.text).length]).toEqual([50, 5]);
  expect(second.text).toContain('<a href="/audit?actor=mallory">Newest entries</a>');
});

const entry = (change: object) => ({
  ...{ actor: person('mallory'), operation: 'login', params: {}, subject: noSubject },
  origin: { via: 'ui', address: '192.0.2.7', forwardedFor: null } as const,
  ...change,
});

test('whatever stands in the log is text', async () => {
  await using all = await opened();
  await all.installation.audit.begin(
    entry({
      ...{
        actor: person(hostile),
        operation: hostile,
        params: { name: hostile, stack: hostile, run: hostile },
      },
      origin: { via: 'ui', address: '192.0.2.7', forwardedFor: hostile },
    }),
  );

  const { text } = await all.visit(`/audit?actor=${encodeURIComponent(hostile)}`);

  expect(rowsOf(text)).toHaveLength(1);
  expect(text).toContain('192.0.2.7');
  expect(text).toContain('says it forwards for');
  expect(text).not.toMatch(/<script>alert|<img/);
});

test('every operation that is written down has words', async () => {
  await using installation = anInstallation();
  const { body } = await call(installation, 'GET', '/api/v1/openapi.json');
  const operations = Object.entries(body.paths as Record<string, object>)
    .filter(([path]) => path.startsWith('/api/v1/'))
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
    .filter((operation) => !operation.startsWith('GET '));

  expect(operations.length).toBeGreaterThan(20);
  expect(operations.filter((operation) => operationWords(operation) === operation)).toEqual([]);
  expect(operationWords('POST /api/v1/new')).toBe('POST /api/v1/new');
  expect(operationWords('check confirm')).toBe('Button on GitHub: confirm');
});
