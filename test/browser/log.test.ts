import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { patience, program, stash } from '../support/scenario.ts';
import { type BrowserWorld, startBrowserWorld, takeScreenshot } from './browser-world.ts';
import { expectAccessible } from './chromium.ts';
import { startLooseLine } from './loose-line.ts';
import { markDocument, waitForState } from './run-page.ts';
import { slowHook, slowHookOf } from './slow-hook.ts';

let world: BrowserWorld;
beforeAll(async () => {
  world = await startBrowserWorld();
});
afterAll(() => world?.[Symbol.asyncDispose]());

const numbered = (from: number, to: number, word: string): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => `${word} ${from + index}`);

const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

/** Lines in the page that begin with the word, in their order. */
const linesWith = (page: Page, word: string) =>
  page.evaluate<string[]>(
    `[...document.querySelectorAll('.line > span')].map((line) => line.textContent).filter((text) => text.startsWith(${JSON.stringify(`${word} `)}))`,
  );

const scrolledTo = (page: Page) => page.evaluate<number>('scrollY');
const isAtEnd = (page: Page) =>
  page.evaluate<boolean>('innerHeight + scrollY >= document.documentElement.scrollHeight - 2');

/** A run that is in its slow hook, and its log in a browser. */
async function watched(name: string) {
  const { scenario, logIn } = world;
  const { push } = await scenario.addStack(name, { hooks: { afterInit: [slowHook] } });
  const { id } = await push(program(stash('one', '1')));
  await scenario.api.waitForState(id, 'INITIALIZING');
  await expect.poll(() => scenario.api.log(id), patience).toContain('while :; do');
  const page = await logIn('ada');
  await page.goto(`/runs/${id}/log`);
  return { id, page, hook: slowHookOf(scenario, id), sameDocument: await markDocument(page) };
}

test('lines of a hook appear as it prints them, in their colours, and the page follows them', async () => {
  const { scenario, browser } = world;
  const { id, page, hook, sameDocument } = await watched('live');
  const red = '\x1b[31mred\x1b[0m and <b onclick="alert(1)">bold</b>';

  await hook.say(`${red}\n`);
  await page.getByText('red and <b onclick="alert(1)">bold</b>').waitFor();
  expect(await page.locator('.ansi-fore-1').textContent()).toBe('red');
  expect(await page.locator('b[onclick]').count()).toBe(0);
  // Who reads at the top is left there, and told; who is at the end stays there.
  await page.evaluate('scrollTo({ top: 0, behavior: "instant" })');
  await hook.say(textOf(numbered(1, 100, 'step')));
  await page.getByRole('button', { name: /^Jump to newest \(10\d new lines\)/ }).waitFor();
  expect(await scrolledTo(page)).toBe(0);
  await takeScreenshot(page, 'log-newest');
  await expectAccessible(page);
  await page.getByRole('button', { name: /^Jump to newest/ }).click();
  await expect.poll(() => isAtEnd(page)).toBe(true);
  expect(await page.locator('#log-newest').isHidden()).toBe(true);
  await hook.say(textOf(numbered(101, 110, 'step')));
  await page.getByText('step 110', { exact: true }).waitFor();
  await expect.poll(() => isAtEnd(page)).toBe(true);
  expect(await page.locator('#log-newest').isHidden()).toBe(true);

  await page.keyboard.press('/');
  await page.keyboard.type('step 42');
  await page.getByText('1 line', { exact: true }).waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.line.target mark', { hasText: 'step 42' }).waitFor();
  await page.keyboard.press('Escape');
  expect(await page.locator('mark').count()).toBe(0);

  await hook.end();
  await waitForState(page, 'UNCONFIRMED');
  expect(await sameDocument()).toBe(true);
  expect((await linesWith(page, 'step')).filter((line) => line === 'step 1')).toHaveLength(1);

  const line = page.locator('.line', { hasText: /step 42$/ });
  const address = `/runs/${id}/log${await line.locator('a').getAttribute('href')}`;
  const other = await page.context().newPage();
  await other.goto(address);
  await other.locator('.line.target', { hasText: 'step 42' }).waitFor();
  expect(await scrolledTo(other)).toBeGreaterThan(0);

  const loading = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download log' }).click();
  const download = await loading;
  expect(download.suggestedFilename()).toBe(`${id}.log`);
  expect(await readFile(await download.path(), 'utf8')).toBe(await scenario.api.log(id));
  expect(browser.complaints).toEqual([]);
});

test('a page that was cut off goes on where it was: no line is lost, none is there twice', async () => {
  await using line = await startLooseLine(world.scenario.server.url);
  const { page: first, hook, id } = await watched('cut');
  // Nobody counts the complaints of this one: that it is cut off is meant.
  const page = await first.context().newPage();

  await page.goto(`${line.url}/runs/${id}/log`);
  const sameDocument = await markDocument(page);
  await hook.say(textOf(numbered(1, 5, 'step')));
  await expect.poll(() => linesWith(page, 'step'), patience).toContain('step 5');
  line.cut();
  await hook.say(textOf(numbered(6, 10, 'step')));
  await expect.poll(() => line.refused, patience).toBeGreaterThan(0);
  expect(await linesWith(page, 'step')).toEqual(numbered(1, 5, 'step'));
  line.mend();
  await expect.poll(() => linesWith(page, 'step'), patience).toContain('step 10');
  await hook.say(textOf(numbered(11, 12, 'step')));
  await hook.end();
  await waitForState(page, 'UNCONFIRMED');
  expect(await linesWith(page, 'step')).toEqual(numbered(1, 12, 'step'));
  expect(await sameDocument()).toBe(true);
  await page.close();
});

const longLog = 200_000;

test(`a log of ${longLog.toLocaleString('en')} lines is there at once, and can be searched`, async ({
  annotate,
}) => {
  const { scenario, browser, logIn } = world;
  const { push } = await scenario.addStack('long', {
    hooks: { afterInit: [`seq -f 'line of a long log %.0f' ${longLog}`] },
  });
  const { id } = await push(program(stash('one', '1')));
  await scenario.api.waitForState(id, 'UNCONFIRMED');
  const page = await logIn('ada');
  const timed = async (what: string, work: () => Promise<unknown>) => {
    const begun = performance.now();
    await work();
    await annotate(`${what}: ${Math.round(performance.now() - begun)} ms`);
  };

  await timed('opened', async () => {
    await page.goto(`/runs/${id}/log`);
    await page.locator('.line', { hasText: 'line of a long log' }).first().waitFor();
  });
  expect(await page.locator('.line').count()).toBeLessThan(5000);
  await timed('a line in its middle', async () => {
    await page.goto(`/runs/${id}/log#initializing-100000`);
    await page.locator('.line.target').waitFor();
  });
  await timed('searched', async () => {
    await page.locator('#log-query').fill('log 123456');
    await page.locator('#log-query').press('Enter');
    await page.locator('.line.target mark').waitFor();
  });
  expect(await page.locator('.line.target').textContent()).toContain('line of a long log 123456');
  await timed('scrolled to its end', async () => {
    await page.evaluate(`document.getElementById('log-initializing').scrollIntoView({ block: 'end' })`);
    await page.getByText(`line of a long log ${longLog}`, { exact: true }).waitFor();
  });
  expect(await page.locator('.line').count()).toBeLessThan(5000);
  expect(browser.complaints).toEqual([]);
});

test('a page catches up by itself with a server that was killed and is back', async () => {
  const { scenario } = world;
  const { id, page, hook, sameDocument } = await watched('killed');
  const begun = async () =>
    (await scenario.api.states(id)).filter(({ state }) => state === 'INITIALIZING').length;

  await scenario.server.kill9();
  await scenario.server.start();
  // What changed nothing yet is begun anew.
  await expect.poll(begun, patience).toBe(2);
  await hook.say(textOf(numbered(1, 3, 'step')));
  await expect.poll(() => linesWith(page, 'step'), patience).toEqual(numbered(1, 3, 'step'));
  await hook.end();

  await waitForState(page, 'UNCONFIRMED');
  expect(await sameDocument()).toBe(true);
});
