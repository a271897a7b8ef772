import { homedir } from 'node:os';
import axe, { type AxeResults } from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { findTool, toolCacheDir } from '../../src/tools.ts';

/** A real browser. What a page does that it must not is kept in `complaints`, for every page that is opened. */
export interface TestBrowser extends AsyncDisposable {
  /** With cookies of its own: another person, or the same one at another machine. */
  open(options?: BrowserContextOptions): Promise<Page>;
  /** Refusals of the content security policy, exceptions of scripts, requests to other servers. */
  readonly complaints: readonly string[];
}

export async function startBrowser(serverUrl: string, ownOrigins: readonly string[]): Promise<TestBrowser> {
  const browser = await launch();
  const complaints: string[] = [];
  const origins = [serverUrl, ...ownOrigins].map((url) => new URL(url).origin);

  function watch(page: Page): void {
    const complain = (what: string) => complaints.push(`${page.url()}: ${what}`);
    page.on('pageerror', (error) => complain(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !isStatus(message.text())) complain(message.text());
    });
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol.startsWith('http') && !origins.includes(origin)) complain(`asked ${request.url()}`);
    });
  }

  return {
    complaints,
    async open(options = {}) {
      const context = await browser.newContext({ baseURL: serverUrl, ...options });
      context.setDefaultTimeout(20_000);
      const page = await context.newPage();
      watch(page);
      return page;
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

/** A page with status 404 is an error to the console, and none to us. */
const isStatus = (text: string): boolean => text.startsWith('Failed to load resource: the server responded');

async function launch(): Promise<Browser> {
  const cacheDir = toolCacheDir(homedir(), process.env['XDG_CACHE_HOME']);
  const found = findTool('chromium', { path: process.env['PATH'] ?? '', cacheDir });
  if (found === null) throw new Error('chromium is not installed: npm run setup -- --with chromium');
  // Chromium refuses its own sandbox as root; it sees nothing here but our own pages.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath: found.path, args });
}

/** What assistive technology would stumble over, by the rules of axe. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  const found = await page.evaluate<AxeResults>(`axe.run(document, { resultTypes: ['violations'] })`);
  const told = found.violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html)}`,
  );
  expect(told, page.url()).toEqual([]);
}
