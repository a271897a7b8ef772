import { expect, test } from 'vitest';
import type { Role } from '../../../src/access/actor.ts';
import { stackSettings } from '../../support/builders.ts';
import { untilUnconfirmed } from '../installation.ts';
import { openBrowser } from './browser.ts';

const hostile = '<script>alert(1)</script>"\'&';

/** Somebody with that role is logged in; one stack waits, one failed, one never ran. */
async function opened(role: Role | null = 'writer') {
  const all = openBrowser();
  const { installation } = all;
  const { addStack, addRun, move } = installation;
  const waits = await addStack('Network Prod');
  const failing = await addStack('dns');
  await addStack('archive', 'globex/infra');
  const run = await move(await addRun(waits), ...untilUnconfirmed);
  const failed = await move(await addRun(failing), { kind: 'claim' }, { kind: 'fail' });
  if (role) installation.roles.set('ada', role);
  await all.logIn();
  return { ...all, waits, failing, run, failed, [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() };
}

/** The names in the first column of the table, and how often each is anywhere else. */
const rowsOf = (text: string): string[] =>
  [...text.matchAll(/<tr>\s*<td><a href="\/stacks\/[^"]+">([^<]*)</g)].map(([, name = '']) => name);

test('the front page begins with what waits and what failed, and leads there', async () => {
  await using all = await opened();

  const { text } = await all.visit('/');

  const [waiting, failed, stacks] = ['Waiting for you (1)', 'Failed (1)', 'All stacks'].map((words) =>
    text.indexOf(words),
  ) as [number, number, number];
  expect(waiting).toBeGreaterThan(0);
  expect(failed).toBeGreaterThan(waiting);
  expect(stacks).toBeGreaterThan(failed);
  expect(text.slice(waiting, failed)).toContain('plan of <span class="mono">1f0c2b3</span> by Ada Example');
  expect(text.slice(waiting, failed)).toContain(`href="/runs/${all.run.id}">Review`);
  expect(text.slice(failed, stacks)).toContain(`href="/runs/${all.failed.id}">See why`);
  expect(rowsOf(text.slice(stacks))).toEqual(['Network Prod', 'dns', 'archive']);
});

test.each([
  ['writer', true],
  ['reader', false],
] as const)('runs that wait for approval are shown to a %s: %s', async (role, isShown) => {
  await using all = await opened(role);
  const { installation, failing } = all;
  installation.guards.push('p1 1');
  const queued = await installation.addRun(failing);

  const { text } = await all.visit('/');

  expect(text.includes('Waiting for approval (1)')).toBe(isShown);
  expect(text.includes(`href="/runs/${queued.id}">Review`)).toBe(isShown);
});

test('nothing waits for who may only read', async () => {
  await using all = await opened('reader');

  const { text } = await all.visit('/');

  expect(text).not.toContain('Waiting for you');
  expect(text).toContain('Failed (1)');
  expect(rowsOf(text)).toEqual(['Network Prod', 'dns', 'archive']);
});

test.each([
  ['?state=failed', ['dns']],
  ['?q=netw', ['Network Prod']],
  ['?repository=globex/infra', ['archive']],
  ['?sort=name', ['archive', 'dns', 'Network Prod']],
])('%s shows what fits, and stays in the form and the other links', async (query, names) => {
  await using all = await opened();

  const { text } = await all.visit(`/${query}`);

  expect(rowsOf(text)).toEqual(names);
  const [, name = '', value = ''] = /\?(\w+)=(.*)/.exec(query) ?? [];
  expect(text).toMatch(new RegExp(`<input [^>]*name="${name}"[^>]* value="${value}"`));
});

test('a filter that nothing fits can be taken away', async () => {
  await using all = await opened();

  const stacks = await all.visit('/?q=nothing');
  const runs = await all.visit('/runs?state=DISCARDED');

  expect(stacks.text).toContain('No stack fits the filter.');
  expect(stacks.text).toContain('<a href="/">Clear the filter</a>');
  expect(runs.text).toContain('No run fits the filter.');
  expect(runs.text).toContain('<a href="/runs">Clear the filter</a>');
});

test.each([
  ['admin', 'npx slipway stack create &quot;Network Prod&quot; --repository acme/infra'],
  ['reader', 'You administer no repository in which the GitHub App'],
] as const)('without stacks the page says the next step: %s', async (role, words) => {
  await using all = openBrowser();
  const { database, stackStore } = all.installation;
  all.installation.roles.set('ada', role);
  // The App sees a repository once there was a stack of it.
  const stack = await all.installation.addStack();
  await database.write((tx) => stackStore.remove(tx, stack.key));
  await all.logIn();

  const { text } = await all.visit('/');

  expect(text).toContain('There is no stack that you may see.');
  expect(text.replaceAll('"', '&quot;')).toContain(words);
});

test('many stacks and runs come in pages that lead on and back', async () => {
  await using all = await opened();
  const { installation } = all;
  for (let n = 0; n < 50; n += 1) {
    const stack = await installation.addStack(`stack ${n}`, 'globex/infra');
    await installation.addRun(stack, 'PROPOSED');
  }

  for (const path of ['/?sort=name', '/runs']) {
    const first = await all.visit(path);
    const [, next = ''] = /<a href="([^"]+)" rel="next">/.exec(first.text) ?? [];
    const second = await all.visit(next.replaceAll('&amp;', '&'));
    const [ofFirst, ofSecond] = [rowsOf(first.text), rowsOf(second.text)];
    expect([path, ofFirst.length]).toEqual([path, 50]);
    expect(ofSecond.length).toBeGreaterThan(0);
    expect(second.text).not.toContain('rel="next"');
    expect(second.text).toMatch(/>(First page|Newest runs)<\/a>/);
    if (path !== '/runs') expect(ofFirst.filter((name) => ofSecond.includes(name))).toEqual([]);
  }
});

test('all runs are listed by filters, and are in the navigation', async () => {
  await using all = await opened();

  const every = await all.visit('/runs');
  const failed = await all.visit('/runs?state=FAILED&stack=dns');

  expect(every.text).toContain('<a href="/runs" aria-current="page">Runs</a>');
  expect(rowsOf(every.text)).toEqual(['dns', 'Network Prod']);
  expect(rowsOf(failed.text)).toEqual(['dns']);
  expect(failed.text).toContain('<option selected>FAILED</option>');
  expect(failed.text).toContain('value="dns"');
});

test('what people write is text in lists, filters and forms', async () => {
  await using all = await opened('admin');
  const { installation, waits } = all;
  const settings = stackSettings({ name: hostile, description: hostile, labels: [hostile], branch: hostile });
  await installation.database.write((tx) => installation.stackStore.updateSettings(tx, waits.key, settings));
  const typed = encodeURIComponent(hostile);

  for (const path of [
    ...['/', `/?q=${typed}&label=${typed}&repository=${typed}&sort=name`, '/stacks/acme/network-prod'],
    ...['/runs', `/runs?account=${typed}&stack=${typed}&branch=${typed}`],
  ]) {
    const { answer, text } = await all.visit(path);
    expect([path, answer.status]).toEqual([path, 200]);
    expect(text).toContain('&lt;script&gt;');
    expect(text).not.toContain('<script>alert');
  }
});
