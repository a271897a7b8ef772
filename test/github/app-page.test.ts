import type { ProbotOctokit } from 'probot';
import { expect, test } from 'vitest';
import { createAppPage } from '../../src/github/app-page.ts';
import { createLogger } from '../../src/logger.ts';
import { manualClock } from '../support/manual-clock.ts';

/** GitHub gives these answers, one after the other. */
function open(answers: unknown[]) {
  const clock = manualClock();
  let asked = 0;
  const request = async () => {
    asked += 1;
    const data = answers.shift();
    if (data === undefined) throw new Error('GitHub is away');
    return { data };
  };
  const app = { asApp: async () => ({ request }) as unknown as ProbotOctokit };
  const appPage = createAppPage({ app, clock, logger: createLogger('silent') });
  return { clock, appPage, asked: () => asked };
}

const page = 'https://github.example/apps/slipway';

test('GitHub is asked once where the page of the App is', async () => {
  const { appPage, clock, asked } = open([{ html_url: page }]);

  expect(await appPage()).toBe(page);
  clock.advance(3_600_000);
  expect([await appPage(), asked()]).toEqual([page, 1]);
});

test.each([
  ['does not answer', undefined],
  ['says something else', { html_url: 'javascript:alert(1)' }],
])('while GitHub %s it is asked once a minute, and nobody else waits', async (_, answer) => {
  const { appPage, clock, asked } = open([answer, { html_url: page }]);

  expect([await appPage(), await appPage(), asked()]).toEqual([null, null, 1]);
  clock.advance(60_000);
  expect([await appPage(), asked()]).toEqual([page, 2]);
});
