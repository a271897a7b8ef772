import { expect, test } from 'vitest';
import { appendLog } from '../../support/append-log.ts';
import { stackSettings } from '../../support/builders.ts';
import { parsePrometheusText } from '../../support/prometheus-text.ts';
import { untilUnconfirmed } from '../installation.ts';
import { openBrowser } from './browser.ts';

const hostile = '<script>alert(1)</script><img src=x onerror=alert(1)>"\'&';

/** Somebody with that role is logged in, and there is a stack with a run that waits for confirmation. */
async function opened(role: 'reader' | 'writer' | null = 'writer') {
  const all = openBrowser();
  const { installation } = all;
  const stack = await installation.addStack('Network Prod');
  const run = await installation.move(await installation.addRun(stack), ...untilUnconfirmed);
  if (role) installation.roles.set('ada', role);
  await all.logIn();
  return { ...all, stack, run, [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() };
}

test('who is not logged in is sent to the login and back', async () => {
  await using all = openBrowser();

  const { answer, location } = await all.visit('/runs/01M7?tab=log');

  expect([answer.status, location]).toEqual([303, '/login?return_to=%2Fruns%2F01M7%3Ftab%3Dlog']);
});

test('the stacks lead to a stack, and that to its runs', async () => {
  await using all = await opened('reader');

  const stacks = await all.visit('/');
  const stack = await all.visit('/stacks/acme/network-prod');
  const run = await all.visit(`/runs/${all.run.id}`);

  expect(stacks.text).toContain('<a href="/stacks/acme/network-prod">Network Prod</a>');
  expect(stacks.text).toContain('UNCONFIRMED');
  expect(stack.text).toContain(`<a href="/runs/${all.run.id}">TRACKED</a>`);
  // Readers have no buttons.
  expect(run.text).not.toContain('Confirm and apply');
  all.installation.roles.set('ada', 'writer');
  expect((await all.visit(`/runs/${all.run.id}`)).text).toContain('Confirm and apply');
});

test('a run says where it stands, what was, what is to come, and who waits for it', async () => {
  await using all = await opened('reader');
  const waiting = await all.installation.addRun(all.stack);

  const { text } = await all.visit(`/runs/${all.run.id}`);
  const blocked = await all.visit(`/runs/${waiting.id}`);

  expect(text).toContain('Nothing is applied until somebody confirms it.');
  expect(text).toContain('One newer run of the stack waits for it.');
  const line = /<ol class="state-line".*?<\/ol>/s.exec(text)?.[0] ?? '';
  expect(
    [...line.matchAll(/<li(.*?)>.*?([A-Z_]{5,})</gs)].map(([, attributes, state]) => `${state}${attributes}`),
  ).toEqual([
    ...['QUEUED', 'READY', 'PREPARING', 'INITIALIZING', 'PLANNING', 'UNCONFIRMED aria-current="step"'],
    ...['CONFIRMED', 'PREPARING_APPLY', 'APPLYING', 'FINISHED'].map((state) => `${state} class="expected"`),
  ]);
  expect(line).toContain('<span class="who">ada</span>');
  expect(blocked.text).toContain(`Waits for <a href="/runs/${all.run.id}">another run of the stack</a>`);
});

test('without stacks the page says how to make one', async () => {
  await using all = openBrowser();
  await all.logIn();

  expect((await all.visit('/')).text).toContain('npx slipway stack create');
});

test('what a person may not know of is not there', async () => {
  await using all = await opened(null);

  expect((await all.visit('/')).text).not.toContain('/stacks/acme/network-prod');
  for (const path of ['/stacks/acme/network-prod', `/runs/${all.run.id}`]) {
    const { answer, text } = await all.visit(path);
    expect([path, answer.status]).toEqual([path, 404]);
    expect(text).toContain('There is nothing here that you may see.');
  }
});

test('a run is confirmed from its page, by who may', async () => {
  await using all = await opened('writer');
  const fields = { form_token: await all.formToken(), state_version: String(all.run.stateVersion) };

  const { answer, location } = await all.post(`/runs/${all.run.id}/confirm`, fields);

  expect([answer.status, location]).toEqual([303, `/runs/${all.run.id}`]);
  expect(await all.installation.runs.find(all.run.id)).toMatchObject({ state: 'CONFIRMED' });
});

test.each<[string, 'reader' | 'writer', object, number]>([
  ['a reader', 'reader', {}, 403],
  ['a form of another page', 'writer', { form_token: 'x' }, 403],
  ['somebody who looked at an older state', 'writer', { state_version: '2' }, 409],
])('nothing is confirmed by %s', async (_, role, change, status) => {
  await using all = await opened(role);
  const fields = {
    form_token: await all.formToken(),
    state_version: String(all.run.stateVersion),
    ...change,
  };

  const { answer, text } = await all.post(`/runs/${all.run.id}/confirm`, fields);

  expect(answer.status).toBe(status);
  expect(text).toContain(
    status === 409 ? 'The run has changed since you looked at it.' : 'That did not work',
  );
  expect(await all.installation.runs.find(all.run.id)).toMatchObject({ state: 'UNCONFIRMED' });
});

test('a retry leads to the run that it made', async () => {
  await using all = await opened('writer');
  await all.post(`/runs/${all.run.id}/discard`, {
    ...{ form_token: await all.formToken(), state_version: String(all.run.stateVersion) },
  });

  const again = await all.post(`/runs/${all.run.id}/retry`, {
    ...{ form_token: await all.formToken(), state_version: String(all.run.stateVersion + 1) },
  });

  expect(again.answer.status).toBe(303);
  expect(again.location).toMatch(/^\/runs\/[0-9A-Z]{26}$/);
  expect(again.location).not.toContain(all.run.id);
});

test('what people write is text on every page', async () => {
  await using all = await opened('reader');
  const { installation, stack, run } = all;
  const settings = stackSettings({ name: hostile, description: hostile, branch: hostile });
  await installation.database.write(async (tx) => {
    await installation.stackStore.updateSettings(tx, stack.key, settings);
    const by = { holder: hostile, holderKey: 'x', reason: hostile, run: null };
    await installation.stackStore.setLock(tx, stack.key, { ...by, kind: 'person', sinceMs: 0 });
  });

  const tabs = ['', '/plan', '/log', '/webhooks', '/details'].map((tab) => `/runs/${run.id}${tab}`);
  for (const path of ['/', '/stacks/acme/network-prod', ...tabs]) {
    const { text } = await all.visit(path);
    expect(text).toContain('&lt;script&gt;');
    expect(text).not.toContain('<script>alert');
    expect(text).not.toContain('<img src=x');
  }
});

test('of a long log a page shows the end, with the numbers of its lines, folded by command', async () => {
  await using all = await opened('reader');
  const { logs } = all.installation;
  const lines = Array.from({ length: 30_000 }, (_, index) => `line ${index + 1} é\n`).join('');
  await appendLog(logs, all.run.id, 'preparing', 'before\n');
  await appendLog(logs, all.run.id, 'initializing', `${lines}[exit 0 in 1.50 s]\n`);
  await appendLog(
    logs,
    all.run.id,
    'planning',
    `$ pulumi preview\n\x1b[32m+ <b>\x1b[0m\n[exit 0 in 2.50 s]\n`,
  );

  const { text } = await all.visit(`/runs/${all.run.id}/log`);

  const numbers = [...text.matchAll(/id="initializing-(\d+)"/g)].map(([, number]) => Number(number));
  expect(numbers.length).toBeGreaterThan(1000);
  expect(numbers).toEqual(numbers.map((_, index) => 30_002 - numbers.length + index));
  expect(text).toContain(`<span>line ${numbers[0]} é</span>`);
  expect(text).toContain(
    '<summary id="planning-1"><code>$ pulumi preview</code> <span class="result">exit 0 in 2.50 s</span>',
  );
  expect(text).toContain('<span class="ansi-fore-2">+ &lt;b&gt;</span>');
  expect(text).toContain(`${(numbers[0] ?? 0) - 1} earlier lines`);
  expect(text).toContain('1 earlier line: </span>');
  expect(text).toContain(`<a href="/api/v1/runs/${all.run.id}/logs?phase=initializing">`);
  expect(text.length).toBeLessThan(500_000);
});

test('the page of a run stays when its log is removed', async () => {
  await using all = await opened('reader');
  const { database, retention } = all.installation;
  await database.write((tx) => retention.markLogsRemoved(tx, [all.run.id]));

  const { answer, text } = await all.visit(`/runs/${all.run.id}/log`);

  expect(answer.status).toBe(200);
  expect(text).toContain('The log was removed for its age.');
});

test('a form that is too large is refused, the one that logs out too', async () => {
  await using all = await opened('writer');
  const form_token = await all.formToken();

  for (const path of [`/runs/${all.run.id}/confirm`, '/logout']) {
    const { answer } = await all.post(path, { form_token, more: 'x'.repeat(1_000_000) });
    expect([path, answer.status]).toEqual([path, 413]);
  }
});

test('what a page asks of the API is not counted as an answer', async () => {
  await using all = await opened('reader');
  const answers = async () => {
    const text = await all.installation.metrics.text();
    const { samples } = parsePrometheusText(text).get('slipway_http_responses_total') ?? {};
    return [...(samples?.values() ?? [])].reduce((sum, count) => sum + count, 0);
  };
  const before = await answers();

  await all.visit(`/runs/${all.run.id}`);

  expect(await answers()).toBe(before + 1);
});
