import { expect, test } from 'vitest';
import { openBrowser } from './browser.ts';

test('an administrator of the instance sees how the server does, from the navigation on', async () => {
  await using browser = openBrowser({}, { login: 'root-ada' });
  await browser.logIn();

  const front = await browser.visit('/');
  const { text, answer } = await browser.visit('/system');

  expect(front.text).toContain('href="/system"');
  expect(answer.status).toBe(200);
  expect(text).toContain('Runs are executed. One thing below could be better.');
  expect(text).toContain('no limit of memory<div class="small soft">Delegate a cgroup.</div>');
  expect(text).toContain('2 of 2 busy');
  expect(text).toMatch(/<a href="\/runs\?state=UNCONFIRMED">one run<\/a>/);
});

test('for everybody else there is no such page', async () => {
  await using browser = openBrowser();
  await browser.logIn();

  const front = await browser.visit('/');
  const { answer } = await browser.visit('/system');

  expect(front.text).not.toContain('/system');
  expect(answer.status).toBe(404);
});
