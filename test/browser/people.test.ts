import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { program, stash } from '../support/scenario.ts';
import { type BrowserWorld, startBrowserWorld, takeScreenshot } from './browser-world.ts';
import { markDocument, waitForState } from './run-page.ts';

let world: BrowserWorld;
/** A page of somebody else, that asks our server for something in the name of who looks at it. */
let foreign: Server;
let foreignPage = '';

beforeAll(async () => {
  foreign = createServer((_, answer) => {
    answer.writeHead(200, { 'content-type': 'text/html' }).end(foreignPage);
  });
  foreign.listen(0, '127.0.0.1');
  await once(foreign, 'listening');
  world = await startBrowserWorld();
  const { github } = world.scenario;
  github.addUser({ login: 'eve', name: 'Eve', email: 'eve@example.com' });
});
afterAll(async () => {
  foreign?.close();
  await world?.[Symbol.asyncDispose]();
});

/** A stack with a plan that waits, and where its webhook is. */
async function planned(name: string) {
  const { addStack, api } = world.scenario;
  const { stack, push } = await addStack(name);
  const { id } = await push(program(stash('one', '1')));
  await api.waitForState(id, 'UNCONFIRMED');
  const { json } = await api.expectSuccess('GET', `${api.stackPath(stack)}/webhooks`);
  const [webhook] = (json as { items: { id: string }[] }).items;
  const path = `/stacks/${stack.account}/${stack.id}`;
  return { run: id, path, webhook: `${path}/settings/integrations/${webhook?.id}` };
}

const apiPathOf = (webhook: string) => `/api/v1/webhooks/${webhook.split('/').at(-1)}`;

/** As a script of the page could, or somebody with the developer tools: with the page's cookies and form token. */
async function post(page: Page, path: string, fields: Record<string, string>): Promise<number> {
  await page.goto('/');
  const form_token = await page.locator('[name=form_token]').first().inputValue();
  return page.evaluate(
    async ({ to, body }) => (await fetch(to, { method: 'POST', body: new URLSearchParams(body) })).status,
    { to: path, body: { form_token, ...fields } },
  );
}

test('an administrator regenerates the secret of a webhook and ends the old one', async () => {
  const { scenario, browser, logIn } = world;
  const { path, webhook } = await planned('regenerated');
  const page = await logIn('ada');
  const shownSecret = async () => (await page.locator('dd details pre.value').textContent()) ?? '';

  await page.goto(`${path}/settings/integrations`);
  await page.locator('a.endpoint').click();
  expect(new URL(page.url()).pathname).toBe(webhook);
  expect(await shownSecret()).toBe(scenario.receiver.secret);
  await page.locator('summary', { hasText: 'Regenerate secret' }).click();
  await page.getByLabel('Hours for which the old one is still used').fill('999');
  await page.getByRole('button', { name: 'Regenerate secret' }).click();
  expect(await page.getByLabel(/^Hours/).getAttribute('aria-invalid')).toBe('true');
  expect(await shownSecret()).toBe(scenario.receiver.secret);
  await page.getByLabel(/^Hours/).fill('24');
  await page.getByRole('button', { name: 'Regenerate secret' }).click();
  await page.getByText('Old secrets', { exact: true }).waitFor();
  const secret = await shownSecret();
  expect(secret).not.toBe(scenario.receiver.secret);
  await takeScreenshot(page, 'webhook-regenerated');

  const { json } = await scenario.api.expectSuccess('GET', apiPathOf(webhook));
  expect(json).toMatchObject({ secret, oldSecrets: [{}] });
  await page.getByRole('button', { name: 'Stop using old secrets now' }).click();
  await page.getByText('Old secrets', { exact: true }).waitFor({ state: 'detached' });
  expect(browser.complaints).toEqual([]);
});

test('a reader sees everything of a stack, the secret of its webhook too, and changes nothing', async () => {
  const { scenario, browser, logIn } = world;
  const { api } = scenario;
  const { run, path, webhook } = await planned('read-only');
  const page = await logIn('cleo');
  const onlyLogsOut = async () => {
    expect(await page.locator('main form[method=post], main summary.button').count(), page.url()).toBe(0);
  };

  for (const tab of ['', '/plan', '/log', '/webhooks', '/details']) {
    expect((await page.goto(`/runs/${run}${tab}`))?.status()).toBe(200);
    await onlyLogsOut();
  }
  for (const where of [path, `${path}/settings`, `${path}/settings/environment`, `${path}/settings/hooks`]) {
    expect((await page.goto(where))?.status(), where).toBe(200);
    await onlyLogsOut();
  }
  await page.goto(`${path}/settings/integrations`);
  expect(await page.getByRole('link', { name: 'Add webhook' }).count()).toBe(0);
  await page.locator('a.endpoint').click();
  await page.locator('summary', { hasText: 'Show secret' }).click();
  await page.getByText(scenario.receiver.secret, { exact: true }).waitFor();
  await onlyLogsOut();
  await takeScreenshot(page, 'webhook-reader');

  const before = await api.expectSuccess('GET', apiPathOf(webhook));
  const posts: [string, Record<string, string>][] = [
    [`/runs/${run}/confirm`, { state_version: '6' }],
    [`/runs/${run}/discard`, { state_version: '6' }],
    [`${path}/lock`, { note: 'mine' }],
    [`${path}/runs`, { type: 'TRACKED' }],
    [`${webhook}/regenerate`, { kind: 'random', overlapHours: '0' }],
    [`${webhook}/enabled`, { enabled: 'no' }],
    [`${webhook}/test`, {}],
  ];
  for (const [to, fields] of posts) expect(await post(page, to, fields), to).toBe(403);
  expect((await api.run(run)).state).toBe('UNCONFIRMED');
  const after = await api.expectSuccess('GET', apiPathOf(webhook));
  expect(after.text).toBe(before.text);
  expect(browser.complaints).toEqual([]);
});

test('a writer confirms plans and changes no settings', async () => {
  const { scenario, logIn } = world;
  const { run, path, webhook } = await planned('written');
  const page = await logIn('bob');

  for (const where of [
    `${path}/settings`,
    `${path}/settings/environment`,
    `${path}/settings/hooks`,
    webhook,
  ]) {
    await page.goto(where);
    // What was sent they may send again.
    expect(await page.locator('main form[method=post]:not([action$=resend])').count(), where).toBe(0);
  }
  expect(await post(page, `${webhook}/regenerate`, { kind: 'random', overlapHours: '0' })).toBe(403);
  expect(await post(page, `${path}/settings/environment`, { name: 'MINE', value: '1' })).toBe(403);
  await page.goto(`/runs/${run}`);
  await page.locator('summary', { hasText: 'Confirm and apply' }).click();
  await page.getByRole('button', { name: 'Confirm and apply' }).click();
  await waitForState(page, 'FINISHED');
  const confirmed = (await scenario.api.states(run)).find(({ state }) => state === 'CONFIRMED');
  expect(confirmed?.actor).toContain('bob');
});

test('to an outsider nothing of a stack is there, whatever they open or post', async () => {
  const { scenario, logIn } = world;
  const { run, path, webhook } = await planned('private');
  const page = await logIn('eve');
  const pages = ['', '/plan', '/log', '/webhooks', '/details'].map((tab) => `/runs/${run}${tab}`);
  const settings = ['', '/environment', '/hooks', '/integrations', '/integrations/new'];

  for (const where of [...pages, path, ...settings.map((each) => `${path}/settings${each}`), webhook]) {
    const answer = await page.goto(where);
    expect(answer?.status(), where).toBe(404);
    expect(await page.content(), where).not.toMatch(/private|acme\b(?!\/)/);
  }
  for (const where of [`/runs/${run}/confirm`, `${webhook}/regenerate`, `${path}/lock`]) {
    expect(await post(page, where, { state_version: '6', kind: 'random' }), where).toBe(404);
  }
  await page.goto('/runs');
  expect(await page.getByText('private').count()).toBe(0);
  expect((await scenario.api.run(run)).state).toBe('UNCONFIRMED');
});

/** Another port of the same host counts as the same site, so its cookies come along; another name does not. */
test.for(['127.0.0.1', 'localhost'])(
  'a page at %s cannot act in the name of who looks at it',
  async (host) => {
    const { scenario, logIn } = world;
    const { run } = await planned(`forged-${host.replaceAll('.', '-')}`);
    const page = await logIn('ada');
    const { url } = scenario.server;
    const address = foreign.address();
    const port = typeof address === 'object' ? address?.port : 0;
    foreignPage = `<form method="post" action="${url}/runs/${run}/confirm"><input name="state_version" value="6">
    <input name="form_token" value="guessed"><button>Win</button></form>
    <script>fetch('${url}/api/v1/runs/${run}/confirm', { method: 'POST', mode: 'no-cors', credentials: 'include',
      headers: { 'content-type': 'text/plain' }, body: '{}' }).finally(() => document.title = 'tried');</script>`;

    await page.goto(`http://${host}:${port}/`);
    await expect.poll(() => page.title()).toBe('tried');
    const answer = page.waitForResponse((response) => response.url().startsWith(url));
    await page.getByRole('button', { name: 'Win' }).click();
    const { status } = await answer.then((each) => ({ status: each.status() }));
    // Without the cookie it is nobody; with it, it is no form of ours.
    expect(status).toBe(host === 'localhost' ? 303 : 403);
    expect((await scenario.api.run(run)).state).toBe('UNCONFIRMED');
    const states = await scenario.passedStates(run);
    expect(states).not.toContain('CONFIRMED');
  },
);

test('whoever is logged out elsewhere is told so on the page that is open', async () => {
  const { scenario, logIn } = world;
  const { run } = await planned('logged-out');
  const page = await logIn('ada');
  await page.goto(`/runs/${run}`);
  const sameDocument = await markDocument(page);
  const other = await page.context().newPage();
  await other.goto('/');
  await other.getByRole('button', { name: 'Log out' }).click();
  await other.close();

  await scenario.api.act(run, 'discard');
  await page.getByRole('alert').getByText('This page does not follow the run any more').waitFor();
  expect(await sameDocument()).toBe(true);
  await takeScreenshot(page, 'run-logged-out');
  await page.getByText('Confirm and apply').first().click();
  await page.getByRole('button', { name: 'Confirm and apply' }).click();
  await page.getByRole('link', { name: 'Log in with GitHub' }).waitFor();
  expect(await scenario.passedStates(run)).not.toContain('CONFIRMED');
});
