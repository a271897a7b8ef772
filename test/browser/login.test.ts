import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserWorld, startBrowserWorld } from './browser-world.ts';

let world: BrowserWorld;
beforeAll(async () => {
  world = await startBrowserWorld();
});
afterAll(() => world?.[Symbol.asyncDispose]());

test('who logs in comes to the page they wanted, and who logs out is out', async () => {
  const { scenario, browser } = world;
  const { stack } = await scenario.addStack('wanted');
  scenario.github.signInAs('ada');
  const page = await browser.open();

  await page.goto(`/stacks/acme/${stack.id}`);
  await page.getByRole('link', { name: 'Log in with GitHub' }).click();
  await page.getByRole('heading', { name: 'wanted' }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/stacks/acme/${stack.id}`);
  const cookies = await page.context().cookies(scenario.server.url);
  expect(cookies).toMatchObject([{ name: 'slipway', httpOnly: true, sameSite: 'Lax' }]);

  await page.getByRole('button', { name: 'Log out' }).click();
  await page.goto(`/stacks/acme/${stack.id}`);
  expect(new URL(page.url()).pathname).toBe('/login');
  expect(browser.complaints).toEqual([]);
});

test('a stranger sees that there is nothing, whatever the address', async () => {
  const { scenario } = world;
  const { stack, repository } = await scenario.addStack('not-for-all');
  scenario.github.addUser({ login: 'eve', name: 'Eve', email: 'eve@example.com' });
  const page = await world.logIn('eve');

  await page.goto('/');
  expect(await page.getByText('not-for-all').count()).toBe(0);
  for (const path of ['', '/settings', '/settings/environment', '/settings/integrations']) {
    const answer = await page.goto(`/stacks/${repository.fullName.split('/')[0]}/${stack.id}${path}`);
    expect(answer?.status(), path).toBe(404);
  }
});
