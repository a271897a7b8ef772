import { expect, test } from 'vitest';
import type { Role } from '../../../src/access/actor.ts';
import { attempted } from '../attempted.ts';
import { openBrowser } from './browser.ts';

async function opened(role: Role) {
  const all = openBrowser();
  const stack = await all.installation.addStack('Network Prod');
  all.installation.roles.set('ada', role);
  await all.logIn();
  const page = async (run: string) => (await all.visit(`/runs/${run}/webhooks`)).text;
  return { ...all, stack, page, [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() };
}

const integrations = '/stacks/acme/network-prod/settings/integrations';

test('each state is shown for each webhook, with a link to its delivery', async () => {
  await using all = await opened('reader');
  const { installation, stack } = all;
  const hook = await installation.webhooks.create(stack.key, { endpoint: 'https://receiver.example/path' });
  const run = await installation.addRun(stack);
  await installation.webhooks.create(stack.key, { endpoint: 'https://late.example:8443/' });
  const first = await attempted(installation, hook.id);

  const text = await all.page(run.id);

  const rows = text.replace(/\s+/g, ' ').split('<tr>').slice(2);
  const plain = rows.map((row) =>
    row
      .replace(/<[^>]*>/g, '|')
      .replace(/[|\s]+/g, ' ')
      .trim(),
  );
  expect(plain[0]).toMatch(/^receiver\.example … retrying, in .* days … on its way$/);
  expect(plain[1]).toMatch(/^late\.example:8443 – not wanted – not wanted/);
  expect(text).toContain(`<a href="${integrations}/${hook.id}/deliveries/${first.deliveryId}">`);
  expect(text).toContain('Some deliveries are on their way.');
  expect(text).not.toContain('/path');
});

test('what was given up stands out, and what is disabled is said to be', async () => {
  await using all = await opened('reader');
  const { installation, stack } = all;
  const hook = await installation.webhooks.create(stack.key, { endpoint: 'https://receiver.example/' });
  const run = await installation.addRun(stack);
  await attempted(installation, hook.id, { status: 'exhausted', nextAttemptAtMs: null });
  await installation.webhooks.update(hook.id, { enabled: false });

  const text = await all.page(run.id);

  expect(text).toContain('<span class="light red"><span aria-hidden="true">✗</span> failed</span>');
  expect(text).toContain('skipped');
  expect(text).toContain('disabled');
  expect(text).toContain('Not everything was delivered');
});

test.each<[Role, string]>([
  ['admin', `<a class="button primary" href="${integrations}">Add webhook</a>`],
  ['writer', 'Administrators of the stack can add one.'],
])('without webhooks %s is told what comes next', async (role, next) => {
  await using all = await opened(role);
  const run = await all.installation.addRun(all.stack);

  expect(await all.page(run.id)).toContain(next);
});
