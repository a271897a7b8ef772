import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runSchema, type StackObject } from '../../demo/api-objects.ts';
import { program, stash } from '../support/scenario.ts';
import { type BrowserWorld, startBrowserWorld, takeScreenshot } from './browser-world.ts';
import { expectAccessible } from './chromium.ts';

let world: BrowserWorld;
let failing: StackObject;

beforeAll(async () => {
  world = await startBrowserWorld();
  const { addStack, api } = world.scenario;
  // Nothing listens there.
  const { stack, push } = await addStack('failing', {}, { webhooksTo: 'http://127.0.0.1:9' });
  await api.waitForState((await push(program(stash('one', '1')))).id, 'UNCONFIRMED');
  failing = stack;
});
afterAll(() => world?.[Symbol.asyncDispose]());

test('somebody makes a stack, sets it up, adds a webhook, and sends a delivery of it again', async () => {
  const { scenario, browser, logIn } = world;
  const { receiver } = scenario;
  await scenario.addRepository('clicked', { 'Pulumi.yaml': program(stash('one', '1')) });
  const page = await logIn('ada');
  const field = (label: string) => page.getByLabel(label, { exact: true });

  await page.getByRole('link', { name: 'New stack' }).first().click();
  await field('Repository').fill('acme/clicked');
  await field('Name').fill('Clicked Prod');
  await field('Stack name').fill('dev');
  await field('Login URL').fill('file:///etc');
  await page.getByRole('button', { name: 'Create stack' }).click();
  expect(await field('Login URL').getAttribute('aria-invalid')).toBe('true');
  expect(await field('Name').inputValue()).toBe('Clicked Prod');
  await field('Login URL').fill('file:///state/clicked');
  await page.getByRole('button', { name: 'Create stack' }).click();
  await page.waitForURL('**/stacks/acme/clicked-prod');

  await page.getByRole('link', { name: 'Settings' }).click();
  await field('Labels').fill('prod\nclicked');
  await page.getByRole('button', { name: 'Save settings' }).click();
  await page.getByRole('link', { name: 'Hooks' }).click();
  const script = '```\nif true; then\n\n  echo from a hook\nfi\n```\necho twice';
  await field('Before init').fill(script);
  await page.getByRole('button', { name: 'Save hooks' }).click();
  expect(await field('Before init').inputValue()).toBe(script);
  await page.getByRole('link', { name: 'Environment' }).click();
  await field('Name').fill('PULUMI_CONFIG_PASSPHRASE');
  await field('Value').fill('correct horse of the browser');
  await page.getByRole('button', { name: 'Add variable' }).click();
  await page.getByRole('cell', { name: 'secret', exact: true }).waitFor();
  await page.getByRole('link', { name: 'Integrations' }).click();
  await page.getByRole('link', { name: 'Add webhook' }).click();
  await field('Endpoint').fill(`${receiver.url}/clicked`);
  await field('Secret').fill(receiver.secret);
  await page.getByRole('button', { name: 'Add webhook' }).click();
  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByText('The receiver took it').waitFor();
  await takeScreenshot(page, 'settings-test');

  const { json } = await scenario.api.expectSuccess('POST', '/api/v1/stacks/acme/clicked-prod/runs', {
    type: 'TRACKED',
  });
  const run = runSchema.parse(json);
  await scenario.api.waitForState(run.id, 'UNCONFIRMED');
  const before = await receiver.waitForVersions(run.id, 6);
  await page.goto('/stacks/acme/clicked-prod/settings/integrations');
  await page.getByRole('link', { name: `${receiver.url}/clicked` }).click();
  await takeScreenshot(page, 'settings-deliveries');
  await page.getByRole('link', { name: 'UNCONFIRMED@6' }).click();
  await page.getByRole('button', { name: 'Copy curl command' }).waitFor();
  await takeScreenshot(page, 'settings-delivery');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Resend' }).click();
  const again = () => receiver.of(run.id).filter(({ stateVersion }) => stateVersion === 6);
  await expect.poll(() => again().length, { timeout: 30_000 }).toBe(2);

  expect(again().map(({ verified256 }) => verified256)).toEqual([true, true]);
  expect(new Set(again().map(({ delivery }) => delivery)).size).toBe(1);
  expect(before.length).toBe(6);
  expect(browser.complaints).toEqual([]);
});

const looks: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  phone: { colorScheme: 'light', viewport: { width: 380, height: 800 }, isMobile: true },
};

test.for(Object.entries(looks))(
  'forms read well with what is wrong with them: %s',
  async ([look, options]) => {
    const { scenario, browser, logIn } = world;
    const { stack } = await scenario.addStack(`wrong-${look}`);
    const settings = `/stacks/acme/${stack.id}/settings`;
    const page = await logIn('ada', options);
    const check = (name: string) => expectToReadWell(page, `settings-${name}-${look}`);

    await page.goto(settings);
    await page.getByLabel('Branch', { exact: true }).fill('no branch');
    await page.getByLabel('Labels', { exact: true }).fill('x'.repeat(101));
    await page.getByRole('button', { name: 'Save settings' }).click();
    await check('general');
    await page.goto(`${settings}/hooks`);
    await page.getByLabel('Before init', { exact: true }).fill('npm ci\n```\nnever closed');
    await page.getByRole('button', { name: 'Save hooks' }).click();
    await check('hooks');
    await page.goto(`${settings}/environment`);
    await page.getByLabel('Name', { exact: true }).fill('LD_PRELOAD');
    await page.getByLabel('Value', { exact: true }).fill('whatever');
    await page.getByRole('button', { name: 'Add variable' }).click();
    await check('environment');
    await page.goto(`${settings}/integrations/new`);
    await page.getByLabel('Endpoint', { exact: true }).fill('http://169.254.169.254/latest');
    await page.getByLabel('Headers', { exact: true }).fill('no colon');
    await page.getByRole('button', { name: 'Add webhook' }).click();
    await check('webhook');
    expect(browser.complaints).toEqual([]);
  },
);

test.for(Object.entries(looks))('a webhook that fails says so everywhere: %s', async ([look, options]) => {
  const { browser, logIn } = world;
  const page = await logIn('ada', options);
  const check = (name: string) => expectToReadWell(page, `webhook-${name}-${look}`);

  await page.goto(`/stacks/acme/${failing.id}/settings/integrations`);
  await page.getByRole('cell', { name: 'failing: refused' }).waitFor();
  await check('list');
  await page.getByRole('link', { name: 'http://127.0.0.1:9/failing' }).click();
  await page.getByText(/attempts? in a row/).waitFor();
  await page.getByText('Regenerate secret', { exact: true }).first().click();
  await check('page');
  await page.getByRole('link', { name: 'UNCONFIRMED@6' }).click();
  await page.getByRole('heading', { name: /^Attempt \d+$/ }).waitFor();
  await check('delivery');
  await page.goBack();
  await page.getByRole('link', { name: 'Edit webhook' }).click();
  await check('edit');
  await page.goBack();
  await page.getByRole('link', { name: 'Replay what was missed' }).first().click();
  await page.getByRole('button', { name: 'Count deliveries' }).click();
  await page.getByText(/\d+ deliveries will be sent/).waitFor();
  await check('replay');
  expect(browser.complaints).toEqual([]);
});

async function expectToReadWell(page: Page, name: string): Promise<void> {
  await takeScreenshot(page, name);
  expect(await widthOf(page), name).toBeLessThanOrEqual(page.viewportSize()?.width ?? 0);
  await expectAccessible(page);
}

const widthOf = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth');
