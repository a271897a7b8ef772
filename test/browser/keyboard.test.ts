import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StackObject } from '../../demo/api-objects.ts';
import { program, stash } from '../support/scenario.ts';
import { type BrowserWorld, startBrowserWorld } from './browser-world.ts';
import { stateOf, waitForState } from './run-page.ts';

let world: BrowserWorld;
let stack: StackObject;
let run: string;
let page: Page;

beforeAll(async () => {
  world = await startBrowserWorld();
  const added = await world.scenario.addStack('keys');
  stack = added.stack;
  run = (await added.push(program(stash('one', '1')))).id;
  await world.scenario.api.waitForState(run, 'UNCONFIRMED');
  page = await world.logIn('ada');
});
afterAll(() => world?.[Symbol.asyncDispose]());

/** What the keyboard is at, in the words that a screen reader would say. */
const focused = () =>
  page.evaluate<string>(`(() => {
    const at = document.activeElement;
    const words = at.getAttribute('aria-label') ?? at.labels?.[0]?.textContent ?? at.textContent;
    return words.trim().replace(/\\\\s+/g, ' ');
  })()`);

/** From the top of the page: every stop of the Tab key, until it leaves the page. */
async function tabStops(): Promise<string[]> {
  const stops: string[] = [];
  await page.evaluate('document.activeElement?.blur()');
  for (let presses = 0; presses < 100; presses += 1) {
    await page.keyboard.press('Tab');
    if (await page.evaluate<boolean>('document.activeElement === document.body')) return stops;
    stops.push(await focused());
  }
  return stops;
}

/** How many things of the page one can press or fill; of a group of radio buttons Tab stops at one. */
const controls = () =>
  page.evaluate<number>(`[...document.querySelectorAll('a[href], button, input:not([type=hidden], [type=radio]:not(:checked)), select, textarea, summary')]
    .filter((each) => each.tabIndex >= 0 && each.checkVisibility({ contentVisibilityAuto: true })).length`);

test('the first press of Tab leads past the navigation', async () => {
  await page.goto(`/runs/${run}`);
  await page.keyboard.press('Tab');
  expect(await focused()).toBe('To the content');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  expect(await focused()).toBe('Stacks');
  expect(await page.evaluate('document.activeElement.closest("main") !== null')).toBe(true);
});

test('Tab reaches every control of a run page in the order in which it is read', async () => {
  await page.goto(`/runs/${run}`);
  const stops = await tabStops();
  const place = (words: string) => stops.indexOf(words);

  expect(stops.length).toBeGreaterThanOrEqual(await controls());
  const wanted = [
    'To the content',
    'Confirm and apply',
    'Discard plan',
    'Plan',
    'Log',
    'Webhooks',
    'Details',
  ];
  expect(wanted.map(place)).not.toContain(-1);
  expect(wanted.map(place)).toEqual(wanted.map(place).sort((a, b) => a - b));
});

test('a form of settings is filled and sent by keys alone', async () => {
  await page.goto(`/stacks/${stack.account}/${stack.id}/settings`);
  const stops = await tabStops();
  expect(stops.length).toBeGreaterThanOrEqual(await controls());

  await page.getByLabel('Name', { exact: true }).focus();
  await page.keyboard.press('End');
  await page.keyboard.type(' renamed');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'keys renamed' }).first().waitFor();
});

test('Escape closes a panel and keeps what was typed; a live update leaves the focus where it is', async () => {
  await page.goto(`/runs/${run}/webhooks`);
  const panel = page.locator('details.act', { hasText: 'Discard plan' });

  await panel.locator('summary').focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  expect(await focused()).toBe('Note');
  await page.keyboard.type('half a ');
  await page.keyboard.press('Escape');
  expect(await panel.getAttribute('open')).toBeNull();
  expect(await focused()).toBe('Discard plan');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.press('End');

  // Whoever comes back to a page sees it as it is now.
  const fresh = page.waitForResponse((answer) => answer.url().endsWith(`/runs/${run}/webhooks`));
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
  await fresh;
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
  await page.keyboard.type('note');
  expect(await panel.getByLabel('Note').inputValue()).toBe('half a note');
  await page.keyboard.press('Enter');
  await waitForState(page, 'DISCARDED');
  expect(await stateOf(page)).toBe('DISCARDED');
  await page.getByText('half a note').first().waitFor();
});
