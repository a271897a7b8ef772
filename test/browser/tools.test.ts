import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserWorld, startBrowserWorld, takeScreenshot } from './browser-world.ts';
import { expectAccessible } from './chromium.ts';

let world: BrowserWorld;

beforeAll(async () => {
  world = await startBrowserWorld({ settings: { ADMINS: 'ada' } });
  await world.scenario.addStack('tools');
});
afterAll(() => world?.[Symbol.asyncDispose]());

test.each([
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['without-scripts', { javaScriptEnabled: false }],
  ['phone', { viewport: { width: 380, height: 800 } }],
] as const)('the fields of the tool that is chosen are shown, in %s', async (look, options) => {
  const page = await world.logIn('ada', options);
  await page.goto('/stacks/new');
  const login = page.getByLabel('Login URL');
  const workspace = page
    .getByRole('group', { name: 'Terraform', exact: true })
    .getByLabel('Workspace (optional)');

  await page.getByRole('radio', { name: 'Pulumi' }).check();
  expect([await login.isVisible(), await workspace.isVisible()]).toEqual([true, false]);
  await page.getByRole('radio', { name: 'Terraform' }).check();
  expect([await login.isVisible(), await workspace.isVisible()]).toEqual([false, true]);
  await takeScreenshot(page, `new-stack-${look}`);
  if (look === 'light' || look === 'dark') await expectAccessible(page);

  await page.goto('/stacks/acme/tools/settings');
  await page.getByRole('radio', { name: 'OpenTofu' }).check();
  await takeScreenshot(page, `stack-tools-${look}`);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  expect(world.browser.complaints).toEqual([]);
});
