import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { InstallationOptions } from '../../demo/installation.ts';
import { type Scenario, startScenario } from '../support/scenario.ts';
import { startBrowser, type TestBrowser } from './chromium.ts';

/** A whole installation with a browser in front of it. */
export interface BrowserWorld extends AsyncDisposable {
  readonly scenario: Scenario;
  readonly browser: TestBrowser;
  /** A browser of that person's, logged in by GitHub's pages. */
  logIn(login: string, options?: BrowserContextOptions): Promise<Page>;
}

export async function startBrowserWorld(options: InstallationOptions = {}): Promise<BrowserWorld> {
  await using parts = new AsyncDisposableStack();
  const scenario = parts.use(await startScenario(options));
  const browser = parts.use(await startBrowser(scenario.server.url, [scenario.github.url]));
  const ended = parts.move();
  return {
    scenario,
    browser,
    async logIn(login, context) {
      scenario.github.signInAs(login);
      const page = await browser.open(context);
      await page.goto('/');
      await page.getByRole('link', { name: 'Log in with GitHub' }).click();
      await page.getByRole('button', { name: 'Log out' }).waitFor();
      return page;
    },
    [Symbol.asyncDispose]: () => ended.disposeAsync(),
  };
}

/** For people to look at, with SCREENSHOTS=<directory>: nothing is compared. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  const directory = process.env['SCREENSHOTS'];
  if (directory === undefined || directory === '') return;
  mkdirSync(directory, { recursive: true });
  await page.screenshot({ path: join(directory, `${name}.png`), fullPage: true });
}
