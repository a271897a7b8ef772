import { expect, test } from 'vitest';
import { octokitFor, startGithub, startPushing, startReceiver } from './stand-in.ts';

test('installing and adding a repository are told', async () => {
  await using receiver = await startReceiver();
  await using started = await startGithub({ webhook: { url: receiver.url, secret: 's' } });
  await started.github.addRepository({ owner: 'acme', name: 'infra' });
  expect(receiver.received.map(({ headers }) => headers['x-github-event'])).toEqual([
    'installation',
    'installation_repositories',
  ]);
  const added = JSON.parse(receiver.received[1]?.body ?? '{}');
  expect(added).toMatchObject({
    action: 'added',
    installation: {
      id: started.installation.id,
      account: { login: 'acme' },
      repository_selection: 'selected',
    },
    repositories_added: [{ name: 'infra', full_name: 'acme/infra', private: true }],
    repositories_removed: [],
  });
});

test('a renamed repository is told, and its old name still leads there', async () => {
  await using pushing = await startPushing();
  const { github, repo, installation, last } = pushing;
  await github.renameRepository(repo, 'platform');
  expect(last()).toMatchObject({
    action: 'renamed',
    changes: { repository: { name: { from: 'infra' } } },
    repository: { id: repo.id, full_name: 'acme/platform' },
  });
  const octokit = await octokitFor(github.url, installation.id);
  const { data } = await octokit.rest.repos.get({ owner: 'acme', repo: 'infra' });
  expect(data.full_name).toBe('acme/platform');
});

test('what the App cannot see, it is not told', async () => {
  await using pushing = await startPushing();
  const { github, repo, receiver } = pushing;
  await github.setInstalled(repo, false);
  receiver.received.length = 0;
  const sent = await github.commitAndPush(repo, { branch: 'main', message: 'one', files: { a: 'a' } });
  expect(sent).toMatchObject({ deliveryId: '', status: 0 });
  expect(receiver.received).toEqual([]);
});

test('a redelivery has the same GUID and bytes, by hand or by the API', async () => {
  await using pushing = await startPushing();
  const { github, repo, receiver } = pushing;
  receiver.answer.status = 503;
  const sent = await github.commitAndPush(repo, { branch: 'main', message: 'one', files: { a: 'a' } });
  expect(sent.status).toBe(503);
  const app = await octokitFor(github.url);
  const failed = await app.request('GET /app/hook/deliveries', { status: 'failure', per_page: 100 });
  expect(failed.data).toMatchObject([
    { guid: sent.deliveryId, event: 'push', status_code: 503, redelivery: false },
  ]);

  receiver.answer.status = 202;
  expect(await github.redeliver(sent.deliveryId)).toEqual({ deliveryId: sent.deliveryId, status: 202 });
  const delivery_id = Number(failed.data[0]?.id);
  await app.rest.apps.redeliverWebhookDelivery({ delivery_id });
  await github.settled();
  expect(
    new Set(receiver.received.map(({ headers, body }) => `${headers['x-github-delivery']} ${body}`)).size,
  ).toBe(1);
  expect(receiver.received).toHaveLength(3);
  const all = await app.rest.apps.listWebhookDeliveries();
  expect(all.data.filter((each) => each.redelivery)).toHaveLength(2);
});

test('what the App itself does comes back to it as events', async () => {
  await using pushing = await startPushing();
  const { github, repo, receiver, installation } = pushing;
  const head_sha = await github.commit(repo, { branch: 'main', message: 'one', files: { a: 'a' } });
  const octokit = await octokitFor(github.url, installation.id);
  await octokit.rest.checks.create({ owner: 'acme', repo: 'infra', name: 'slipway/net', head_sha });
  await github.settled();
  expect(JSON.parse(receiver.received.at(-1)?.body ?? '{}')).toMatchObject({
    action: 'created',
    check_run: { name: 'slipway/net' },
    sender: { login: 'slipway[bot]', type: 'Bot' },
  });
});

test('where nobody listens the delivery is kept for later', async () => {
  await using started = await startGithub();
  const { github } = started;
  const repo = await github.addRepository({ owner: 'acme', name: 'infra' });
  const sent = await github.commitAndPush(repo, { branch: 'main', message: 'one', files: { a: 'a' } });
  expect(sent.status).toBe(0);
  await using receiver = await startReceiver();
  github.setWebhook({ url: receiver.url, secret: 's' });
  expect((await github.redeliver(sent.deliveryId)).status).toBe(202);
  expect(github.deliveries).toMatchObject([
    { guid: sent.deliveryId, answers: [{ status: 0 }, { status: 202 }] },
  ]);
});
