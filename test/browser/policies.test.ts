import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { program, stash } from '../support/scenario.ts';
import { type BrowserWorld, startBrowserWorld, takeScreenshot } from './browser-world.ts';
import { expectAccessible } from './chromium.ts';
import { waitForState } from './run-page.ts';

let world: BrowserWorld;

beforeAll(async () => {
  world = await startBrowserWorld({ settings: { ADMINS: 'ada' } });
});
afterAll(() => world?.[Symbol.asyncDispose]());

/** Whoever makes a vault has to be let. */
const body = `package slipway

deny contains sprintf("%s is a vault", [step.urn]) if {
	some step in input.pulumi.steps
	step.op == "create"
	endswith(step.urn, "::vault")
}

sample := true
`;

async function look(page: Page, name: string): Promise<void> {
  await takeScreenshot(page, `policies-${name}`);
  await expectAccessible(page);
}

test('a policy is made, attached, denies a run, is overridden for it, and tried out anew', async () => {
  const { scenario, browser, logIn } = world;
  const { stack, push } = await scenario.addStack('guarded');
  const page = await logIn('ada');
  const field = (label: string) => page.getByLabel(label, { exact: true });
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();

  await page.getByRole('link', { name: 'Policies' }).first().click();
  await look(page, 'empty');
  await page.getByRole('link', { name: 'New policy' }).first().click();
  await look(page, 'kinds');
  await page.getByRole('link', { name: 'PLAN', exact: true }).click();
  await look(page, 'new');
  await field('Name').fill('vaults');
  await field('Rego').fill(body.replace('step.urn]', 'stepp.urn]'));
  await press('Create policy');
  await page.getByText('line 3, column').waitFor();
  expect(await field('Name').inputValue()).toBe('vaults');
  await look(page, 'error');
  await field('Rego').fill(body);
  await press('Create policy');
  await page.getByText('It judges no stack yet').waitFor();

  await page.goto(`/stacks/${stack.account}/${stack.id}/settings/policies`);
  await page.getByLabel('Policy of acme').selectOption({ label: 'vaults (PLAN)' });
  await press('Attach policy');
  await page.getByRole('cell', { name: 'attached', exact: true }).waitFor();
  await look(page, 'attached');

  const denied = await push(program(stash('vault', '1')));
  await scenario.api.waitForState(denied.id, 'FAILED');
  await page.goto(`/runs/${denied.id}`);
  await page.getByText('A policy denied it: nothing was applied.').waitFor();
  await page.getByRole('navigation', { name: 'Run' }).getByRole('link', { name: 'Policies' }).first().click();
  await page.getByText('::vault is a vault').last().waitFor();
  await page.getByText('Let these changes pass all the same').click();
  await look(page, 'denied');
  await field('Reason').fill('the first vault, agreed with Grace');
  await press('Let these changes pass');
  await page.getByText('lets exactly these changes pass').waitFor();
  await look(page, 'overridden');

  await page.locator('#run-tab').getByRole('button', { name: 'Run it again' }).click();
  await waitForState(page, 'UNCONFIRMED');
  const again = page.url();
  await page.getByRole('navigation', { name: 'Run' }).getByRole('link', { name: 'Policies' }).first().click();
  await page.getByText('They were denied in').waitFor();
  await look(page, 'passed-by-override');

  await page.getByRole('link', { name: 'Try it out on this plan' }).click();
  await page.waitForURL('**/workbench?run=*');
  await look(page, 'workbench');
  await field('Rego').fill(body.replace('is a vault', 'is none of ours'));
  await press('Simulate');
  await page.getByText('is none of ours').first().waitFor();
  await look(page, 'simulated');
  await press('What would have happened');
  await page.getByRole('heading', { name: 'What would have happened: the same decisions' }).waitFor();
  await look(page, 'past-runs');
  await press('Save as version 2');
  await page.getByText('version 2', { exact: true }).waitFor();
  await look(page, 'one');
  await page.getByRole('link', { name: 'Versions' }).click();
  await page.getByText('+ deny contains sprintf("%s is none of ours"').waitFor();
  await look(page, 'versions');

  expect(again).not.toContain(denied.id);
  expect(browser.complaints).toEqual([]);
});
