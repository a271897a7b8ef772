import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { program, stash } from '../support/scenario.ts';
import { type BrowserWorld, startBrowserWorld, takeScreenshot } from './browser-world.ts';
import { expectAccessible } from './chromium.ts';

/** Whatever is said like that by anybody is text. */
const markup = `<b onclick="alert(1)">bold</b>`;

let world: BrowserWorld;
let paths: readonly string[];

beforeAll(async () => {
  world = await startBrowserWorld({ settings: { ADMINS: 'ada' } });
  const { addStack, api } = world.scenario;
  const { push } = await addStack('looks', { description: markup, labels: ['prod', markup] });
  const first = await push(program(stash('one', markup), stash('two', '2')), { message: markup });
  await api.waitForState(first.id, 'UNCONFIRMED');
  paths = await pathsFrom(await world.logIn('ada'));
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
    ]),
  );
});

test.for(Object.entries(looks))('every page reads well: %s', async ([look, options]) => {
  const page = await world.logIn('ada', options);
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
