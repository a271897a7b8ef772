import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { program, stash } from '../support/scenario.ts';
import { type BrowserWorld, startBrowserWorld, takeScreenshot } from './browser-world.ts';
import { expectAccessible } from './chromium.ts';

/** Whatever is said like that by anybody is text. */
const markup = `<b onclick="alert(1)">bold</b>`;

/** So is this: it would turn the text around, or be too wide for any page. */
const hostile = `${markup} \u202edesrever \u2066 \x07 ${'wide'.repeat(100)}`;
const quoted = JSON.stringify(hostile);
const output = `printf '%s \\033[31mred\\033[0m \\033]0;title\\007 \\033[2J\\n' ${quoted.replaceAll('$', '')}`;

/** Warns of every plan and denies some, in the words of others. */
const saying = `package slipway

warn contains sprintf("%s: %s", [input.slipway.commit.message, step.urn]) if some step in input.pulumi.steps

deny contains "no \u202evault" if {
	some step in input.pulumi.steps
	endswith(step.urn, "::vault")
}

sample := true
`;

let world: BrowserWorld;
let paths: readonly string[];

beforeAll(async () => {
  world = await startBrowserWorld({ settings: { ADMINS: 'ada' } });
  const { addStack, api, receiver } = world.scenario;
  const said = { description: hostile, labels: ['prod', markup], hooks: { afterInit: [output] } };
  const { stack, push } = await addStack('looks', said);
  await api.addWebhook(stack, {
    endpoint: `${receiver.url}/looks?text=${encodeURIComponent(hostile)}`,
    secret: receiver.secret,
  });
  const policy = await api.expectSuccess('POST', '/api/v1/policies', {
    ...{ name: `${markup} ${'wide'.repeat(15)}`, description: hostile, kind: 'PLAN', account: 'acme' },
    ...{ labels: ['autoattach:prod'], body: saying },
  });
  const written = program(stash(JSON.stringify(markup), quoted), stash('two', '2'));
  const first = await push(written, { message: hostile });
  const branch = 'feature/<b/onclick="alert(1)">';
  const proposed = await push(`${written}\n\n`, { message: hostile, branch });
  await api.waitForState(proposed.id, 'FINISHED');
  await api.waitForState(first.id, 'UNCONFIRMED');
  await api.act(first.id, 'discard', { note: hostile });
  const last = await push(`${written}\n`, { message: hostile });
  await api.waitForState(last.id, 'UNCONFIRMED');
  const denied = await push(program(stash('vault', '1')), { branch: 'vaults', message: 'Add a vault' });
  await api.waitForState(denied.id, 'FAILED');
  const { id } = policy.json as { id: string };
  await api.expectSuccess('PUT', `/api/v1/policies/${id}`, { body: `${saying}\n# ${hostile}\n` });
  await api.changeStack(stack, { name: `${markup} ${'wide'.repeat(15)}` });
  await api.expectSuccess('PUT', `${api.stackPath(stack)}/lock`, { note: hostile });
  expect(await api.log(last.id, 'initializing')).toContain('\x1b[31mred');
  paths = await pathsFrom(await world.logIn('ada'));
  // What was refused has a page of another look, and what ended.
  paths = [
    ...new Set([
      ...paths,
      '/policies/new?kind=PUSH',
      `/runs/${denied.id}/policies`,
      `/runs/${last.id}/plan`,
      `/runs/${last.id}/log`,
      `/runs/${first.id}/details`,
    ]),
  ];
});
afterAll(() => world?.[Symbol.asyncDispose]());

const looks: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  phone: { colorScheme: 'light', viewport: { width: 380, height: 800 }, isMobile: true },
  'without-scripts': { javaScriptEnabled: false },
};

test('links lead to the pages that there are', () => {
  expect(paths.map(kindOf)).toEqual(
    expect.arrayContaining([
      '/',
      '/stacks/acme/looks',
      '/runs/*',
      '/stacks/acme/looks/settings/integrations/*',
      '/stacks/acme/looks/settings/policies',
      '/policies/*',
      '/policies/*/workbench',
      '/runs/*/policies',
    ]),
  );
});

test.for(Object.entries(looks))('every page reads well: %s', async ([look, options]) => {
  const page = await world.logIn('ada', options);
  page.on('dialog', (dialog) => expect.fail(`a dialog: ${dialog.message()}`));
  for (const path of [...paths, '/runs/none']) {
    await page.goto(path);
    await takeScreenshot(page, `${kindOf(path).replace(/\W+/g, '-')}-${look}`);
    expect(await page.locator('h1').count(), path).toBe(1);
    expect(await page.locator('b[onclick]').count(), path).toBe(0);
    expect(await widthOf(page), path).toBeLessThanOrEqual(page.viewportSize()?.width ?? 0);
    if (options.javaScriptEnabled !== false) await expectAccessible(page);
  }
  expect(world.browser.complaints).toEqual([]);
});

/** A page that is asked for often, or over a bad line; the log of a run is as long as it is. */
const heaviest = 150_000;

test('no page is heavy', async () => {
  const page = await world.logIn('ada');
  for (const path of paths) {
    await page.goto(path);
    expect(await weightOf(page), path).toBeLessThan(heaviest);
  }
});

/** In bytes, as read: of the page itself without the log in it, its styles and scripts. */
const weightOf = (page: Page) =>
  page.evaluate<number>(`(() => {
    const [page] = performance.getEntriesByType('navigation');
    const parts = performance.getEntriesByType('resource').filter(({ name }) => name.includes('/assets/'));
    const sum = [page, ...parts].reduce((total, { decodedBodySize }) => total + decodedBodySize, 0);
    return sum - new Blob([document.getElementById('log')?.innerHTML ?? '']).size;
  })()`);

const widthOf = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth');

/** Two pages that differ in an id only are looked at once. */
const kindOf = (path: string): string =>
  path.replace(/[?#].*/, '').replace(/\b[0-9A-HJKMNP-TV-Z]{26}\b/g, '*');

/** Every page that links lead to, so that a new one cannot be forgotten; one of a kind. */
async function pathsFrom(page: Page): Promise<string[]> {
  const found = new Map([['/', '/']]);
  const seen: string[] = [];
  for (const path of found.values()) {
    await page.goto(path);
    seen.push(path);
    const links = await page.evaluate<string[]>(
      `[...document.querySelectorAll('a[href^="/"]')].map((link) => link.getAttribute('href'))`,
    );
    for (const link of links.filter((each) => !/^\/(api|login|assets)\//.test(each))) {
      if (!found.has(kindOf(link))) found.set(kindOf(link), link);
    }
  }
  expect(seen.length).toBeLessThan(60);
  return seen;
}
