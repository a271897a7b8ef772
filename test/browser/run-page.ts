import type { Page } from 'playwright-core';

/** What a run page says its state is. */
export const stateOf = (page: Page): Promise<string | null> =>
  page.locator('.state-line [aria-current=step] .state').textContent();

/** Without loading anything: the page must follow by itself. */
export async function waitForState(page: Page, state: string): Promise<void> {
  const here = page.locator('.state-line [aria-current=step] .state', { hasText: state });
  await here.waitFor({ timeout: 60_000 });
}

/** Tells later whether the page is still that document, or another one was loaded. */
export async function markDocument(page: Page): Promise<() => Promise<boolean>> {
  await page.evaluate('window.isSeenBefore = true');
  return () => page.evaluate<boolean>('window.isSeenBefore === true');
}
