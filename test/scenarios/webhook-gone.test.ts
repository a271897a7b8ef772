import { expect, test } from 'vitest';
import { waitFor } from '../../demo/wait.ts';
import { startScenario } from '../support/scenario.ts';
import { startReceiver } from '../webhooks/receiver.ts';

test('a webhook whose receiver is gone is disabled, and the commit that met it says so', async () => {
  await using scenario = await startScenario();
  await using gone = await startReceiver(() => 410);
  const { api, github } = scenario;
  const { stack, push } = await scenario.addStack('gone', {}, { webhooksTo: gone.url });

  const { id } = await push('not: [yaml');
  await api.waitForState(id, 'FAILED');
  const check = await waitFor(
    'the check run to tell of the webhook',
    () =>
      github.checkRuns.find(
        ({ externalId, output }) => externalId === id && output?.summary.includes('is disabled'),
      ),
    { timeoutMs: 20_000 },
  );

  const list = await api.request('GET', `/api/v1/stacks/${stack.account}/${stack.id}/webhooks`);
  const { items } = list.json as { items: readonly { id: string }[] };
  expect(items).toMatchObject([{ enabled: false, disabledReason: 'The receiver answered 410 Gone.' }]);
  const shown = await api.request('GET', `/api/v1/webhooks/${items[0]?.id}`);
  // The first state change was refused, and none was sent after it.
  const { length: passed } = await scenario.passedStates(id);
  expect(shown.json).toMatchObject({ missed: passed });
  expect(gone.received.length).toBeGreaterThan(0);
  await expect.poll(() => check.conclusion).toBe('failure');
  const { summary = '' } = check.output ?? {};
  expect(summary.match(/is disabled/g)).toHaveLength(1);
  expect(summary).toContain(`Webhook \`${items[0]?.id}\` (\`${new URL(gone.url).host}\`) is disabled.`);
  expect(summary).toContain('The receiver answered 410 Gone.');
  // Path and query may be a credential.
  expect(summary).not.toContain('/hook');
});
