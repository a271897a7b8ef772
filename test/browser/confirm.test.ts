import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { program, stash } from '../support/scenario.ts';
import { type BrowserWorld, startBrowserWorld, takeScreenshot } from './browser-world.ts';
import { expectAccessible } from './chromium.ts';
import { markDocument, stateOf, waitForState } from './run-page.ts';
import { slowHook, slowHookOf } from './slow-hook.ts';

let world: BrowserWorld;
beforeAll(async () => {
  world = await startBrowserWorld();
});
afterAll(() => world?.[Symbol.asyncDispose]());

/** Where nothing moves any more but by the test. */
async function addPlanned(name: string): Promise<{ readonly id: string; readonly path: string }> {
  const { addStack, api } = world.scenario;
  const { stack, push } = await addStack(name);
  const { id } = await push(program(stash('one', '1')));
  await api.waitForState(id, 'UNCONFIRMED');
  return { id, path: `/stacks/${stack.account}/${stack.id}` };
}

const replaced = '    options:\n      replaceOnChanges: [input]\n';

const openPanel = (page: Page) => page.locator('details.act[open]');

test('somebody watches a push become a plan, reads it, confirms it, and watches it being applied', async () => {
  const { scenario, browser, logIn } = world;
  const { api } = scenario;
  const { stack, push } = await scenario.addStack('watched', { hooks: { afterInit: [slowHook] } });
  await api.expectSuccess('PUT', `${api.stackPath(stack)}/lock`, { note: 'not yet' });
  const { id } = await push(program(stash('one', 'first'), stash('two', 'second')));
  const page = await logIn('ada');

  await page.getByRole('link', { name: 'watched' }).first().click();
  await page.locator(`a[href^="/runs/${id}"]`).first().click();
  expect(await stateOf(page)).toBe('QUEUED');
  await page.getByText('unlocks the stack: not yet').waitFor();
  const sameDocument = await markDocument(page);
  await api.expectSuccess('DELETE', `${api.stackPath(stack)}/lock`);
  await waitForState(page, 'INITIALIZING');
  await slowHookOf(scenario, id).end();
  await waitForState(page, 'UNCONFIRMED');
  expect(await page.getByText('unlocks the stack').count()).toBe(0);
  expect(await sameDocument()).toBe(true);
  expect(await page.title()).toContain('watched');

  await page.getByRole('link', { name: 'Plan', exact: true }).click();
  const change = page.locator('.tree details', { hasText: 'two' });
  await change.locator('summary').click();
  await change.getByText('"second"').waitFor();
  await page.getByText('Confirm and apply').first().click();
  await openPanel(page)
    .getByText(/3 created in watched by commit [0-9a-f]{7}\. This plan is/)
    .waitFor();
  await takeScreenshot(page, 'confirm-panel');
  await expectAccessible(page);
  await page.getByLabel('Note').locator('visible=true').fill('looks right');
  await page.getByRole('button', { name: 'Confirm and apply' }).click();
  await page.waitForURL(`**/runs/${id}`);
  const stillThere = await markDocument(page);
  await waitForState(page, 'FINISHED');
  expect(await stillThere()).toBe(true);
  expect(await page.locator('.state-line .state').allTextContents()).toEqual(await scenario.passedStates(id));
  await expect.poll(() => page.locator('#run-news').textContent()).toMatch(/^FINISHED\./);

  await scenario.expectWebhooksToTell(id);
  await page.getByRole('link', { name: 'Webhooks' }).click();
  await page.getByText('Every webhook was told of every state').waitFor();
  expect(await page.locator('.told tbody td').count()).toBe((await scenario.passedStates(id)).length);
  await page.getByRole('link', { name: 'Details' }).click();
  await page.getByRole('row', { name: /CONFIRMED .*ada.* looks right/ }).waitFor();
  expect(browser.complaints).toEqual([]);
});

test('what a plan deletes and replaces is named where it is confirmed; who discards it says why', async () => {
  const { scenario, browser, logIn } = world;
  const { api } = scenario;
  const { stack, push } = await scenario.addStack('losing', { autodeploy: true });
  const first = await push(program(stash('gone-later', '1'), stash('made-anew', '1') + replaced));
  await api.waitForState(first.id, 'FINISHED');
  await api.changeStack(stack, { autodeploy: false });
  const { id } = await push(program(stash('made-anew', '2') + replaced));
  await api.waitForState(id, 'UNCONFIRMED');
  const page = await logIn('bob');

  await page.goto(`/runs/${id}`);
  await page.getByText('Confirm and apply').first().click();
  await openPanel(page).getByRole('listitem').filter({ hasText: 'gone-later' }).waitFor();
  await openPanel(page).getByRole('listitem').filter({ hasText: 'made-anew' }).waitFor();
  await openPanel(page).getByText('Deleted and made anew:').waitFor();
  await takeScreenshot(page, 'confirm-losing');
  await page.keyboard.press('Escape');
  expect(await openPanel(page).count()).toBe(0);
  const change = page.locator('.tree details', { hasText: 'made-anew' });
  await change.locator('summary').click();
  await change.getByText('forces replacement').waitFor();

  await page.getByRole('link', { name: 'Log', exact: true }).click();
  await page.getByText('Discard plan').first().click();
  await openPanel(page).getByText('Nothing is applied; the next run plans anew.').waitFor();
  await openPanel(page).getByLabel('Note').fill('not on a Friday');
  await page.getByRole('button', { name: 'Discard plan' }).click();
  await waitForState(page, 'DISCARDED');
  await page.getByText('not on a Friday').waitFor();
  // Back to the page with the button: it is not there any more.
  await page.goBack();
  expect(new URL(page.url()).pathname).toBe(`/runs/${id}/log`);
  await waitForState(page, 'DISCARDED');
  expect(await page.getByText('Confirm and apply').count()).toBe(0);
  expect(browser.complaints).toEqual([]);
});

test('a run is confirmed by forms and links alone', async () => {
  const { scenario, logIn } = world;
  const { id, path } = await addPlanned('plain');
  const page = await logIn('ada', { javaScriptEnabled: false });

  await page.goto('/');
  await page.getByRole('link', { name: 'plain' }).first().click();
  expect(new URL(page.url()).pathname).toBe(path);
  await page.locator(`a[href^="/runs/${id}"]`).first().click();
  await page.locator('summary', { hasText: 'one' }).click();
  await page.locator('.properties ins').first().waitFor();
  await page.locator('summary', { hasText: 'Confirm and apply' }).click();
  await openPanel(page)
    .getByText(/2 created in plain/)
    .waitFor();
  await page.getByRole('button', { name: 'Confirm and apply' }).click();
  await scenario.api.waitForState(id, 'FINISHED');
  await page.reload();
  expect(await stateOf(page)).toBe('FINISHED');
  await page.getByRole('link', { name: 'Log', exact: true }).click();
  await page.getByText('$ pulumi up').waitFor();
});

test('a button that is pressed twice does what it says once', async () => {
  const { scenario, browser, logIn } = world;
  const { api } = scenario;
  const { id, path } = await addPlanned('twice');
  const page = await logIn('ada');

  await page.goto(`/runs/${id}`);
  await page.getByText('Discard plan').first().click();
  await page.getByRole('button', { name: 'Discard plan' }).dblclick();
  await waitForState(page, 'DISCARDED');
  expect(await page.getByText('has changed since you looked').count()).toBe(0);

  await page.goto(path);
  const started = page.locator('form', { has: page.locator('[name=type][value=TASK]') });
  await page.getByText('Run a task').first().click();
  await started.getByLabel('Command').fill('echo once');
  await started.getByRole('button').dblclick();
  await page.waitForURL('**/runs/*');
  const runId = new URL(page.url()).pathname.split('/')[2] ?? '';
  await api.waitForState(runId, 'FINISHED');
  const { json } = await api.expectSuccess('GET', `/api/v1${path}/runs?type=TASK`);
  expect((json as { items: unknown[] }).items).toHaveLength(1);
  expect(browser.complaints).toEqual([]);
});
