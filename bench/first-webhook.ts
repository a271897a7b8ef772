/** How long after GitHub sent a push the first webhook of its run arrives, against a POST straight to the receiver. */
import { createHmac } from 'node:crypto';
import { request } from 'undici';
import { type Installation, startInstallation } from '../demo/installation.ts';
import { waitFor } from '../demo/wait.ts';
import { type Benchmark, inMs, percentile } from './figure.ts';

const pushes = 200;
const warmUps = 10;

export const firstWebhook: Benchmark = {
  name: 'first-webhook',
  about: `push to the webhook of QUEUED, p50 and p99 of ${pushes}, against a POST straight to the receiver`,
  async measure(say) {
    await using installation = await startInstallation({ settings: { LOG_LEVEL: 'warn' } });
    const { api, receiver } = installation;
    const repository = await installation.addRepository('first', { 'README.md': 'hello\n' });
    const stack = await api.createStack({
      name: 'first',
      repository: repository.fullName,
      vendor: { pulumi: { loginUrl: 'file:///state', stackName: 'dev' } },
    });
    await api.addWebhook(stack, { endpoint: `${receiver.url}/first`, secret: receiver.secret });
    // Runs of a locked stack stay QUEUED: nothing else uses the machine.
    await api.expectSuccess('PUT', `${api.stackPath(stack)}/lock`, { note: 'benchmark' });

    const [webhookMs, directMs]: [number[], number[]] = [[], []];
    for (let index = 0; index < warmUps + pushes; index += 1) {
      const took = await firstWebhookOf(installation, repository, index);
      const direct = await straightToReceiver(installation);
      if (index < warmUps) continue;
      webhookMs.push(took);
      directMs.push(direct);
    }
    const [p50, p99, base] = [
      percentile(webhookMs, 0.5),
      percentile(webhookMs, 0.99),
      percentile(directMs, 0.5),
    ];
    say(`first webhook ${inMs(p50)} p50, ${inMs(p99)} p99; straight ${inMs(base)} p50`);
    const detail = `${pushes} pushes; runs are made, none is executed`;
    return [
      { what: 'push → first webhook, p50', value: p50, unit: 'ms', detail },
      { what: 'push → first webhook, p99', value: p99, unit: 'ms', detail },
      {
        what: 'push → first webhook ÷ POST straight to the receiver, p50',
        value: p50 / base,
        unit: '',
        detail: `${inMs(p50)} ÷ ${inMs(base)}`,
      },
    ];
  },
};

async function firstWebhookOf(
  { api, github, receiver }: Installation,
  repository: Awaited<ReturnType<Installation['addRepository']>>,
  index: number,
): Promise<number> {
  const before = receiver.received.length;
  const files = { count: `${index}\n` };
  const { deliveryId } = await github.commitAndPush(repository, {
    branch: 'main',
    message: `${index}`,
    files,
  });
  const first = await waitFor('the first webhook', () => receiver.received[before], {
    timeoutMs: 10_000,
    intervalMs: 2,
  });
  if (first.state !== 'QUEUED') throw new Error(`the first webhook says ${first.state}`);
  const sentAtMs = github.deliveries.find(({ guid }) => guid === deliveryId)?.answers[0]?.atMs ?? Number.NaN;
  if (first.run === null) throw new Error('the first webhook names no run');
  // Otherwise the queue of the stack would grow with every push.
  const { stateVersion } = await api.act(first.run, 'cancel');
  await receiver.waitForVersions(first.run, stateVersion);
  return first.receivedAtMs - sentAtMs;
}

/** The same clocks at both ends: ours at the start, the receiver's at the arrival. */
async function straightToReceiver({ receiver }: Installation): Promise<number> {
  const before = receiver.received.length;
  const body = JSON.stringify({ state: 'QUEUED', stateVersion: 1 });
  const hmac = (algorithm: string) =>
    `${algorithm}=${createHmac(algorithm, receiver.secret).update(body).digest('hex')}`;
  const sentAtMs = performance.timeOrigin + performance.now();
  const answer = await request(`${receiver.url}/straight`, {
    method: 'POST',
    body,
    headers: { 'x-signature': hmac('sha1'), 'x-signature-256': hmac('sha256') },
  });
  await answer.body.dump();
  const found = await waitFor('the receiver', () => receiver.received[before], {
    timeoutMs: 10_000,
    intervalMs: 2,
  });
  return found.receivedAtMs - sentAtMs;
}
