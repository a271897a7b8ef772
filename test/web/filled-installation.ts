import { aJudgement, aPolicy } from '../support/policies.ts';
import { attempted } from './attempted.ts';
import type { Installation } from './installation.ts';

/** Puts one of everything into an installation that routes can be about. */
export async function fillInstallation(installation: Installation) {
  const { addStack, addRun, webhooks, database } = installation;
  const made = await addStack();
  const hook = await webhooks.create(made.key, { endpoint: 'https://receiver.example/hook' });
  const finished = await installation.move(await addRun(made), { kind: 'cancel' });
  const delivery = await attempted(installation, hook.id);
  const replay = await installation.replays.start(
    hook.id,
    { sinceMs: 0, untilMs: Number.MAX_SAFE_INTEGER, state: null, failedOnly: false },
    'ada',
  );
  await database.write((tx) =>
    installation.stackStore.putVariable(tx, made.key, {
      name: 'AWS_REGION',
      value: 'eu-west-1',
      secret: false,
      access: 'all',
    }),
  );
  // GitHub's deliveries have ids of their own; here one serves both kinds.
  const { deliveryId: id } = delivery;
  const received = { id, event: 'ping', lane: 'other', body: Buffer.from('{}'), receivedAtMs: 1 };
  await database.write((tx) => installation.inboxStore.insert(tx, received));
  await database.write((tx) => installation.inboxStore.settle(tx, id, { state: 'failed', note: 'no luck' }));
  const policy = aPolicy();
  const about = { accountId: 11, stackKey: made.key, runId: finished.id, subject: 'the plan' };
  const { policies } = installation;
  const input = await policies.stores.decisions.packSample(Buffer.from('{}'));
  const sample = await database.write(async (tx) => {
    await policies.stores.policies.insert(tx, policy);
    await policies.stores.policies.attach(tx, policy.id, made.key);
    return policies.stores.decisions.record(tx, aJudgement({ sample: true }), about, input);
  });
  const ids: Readonly<Record<string, string>> = {
    account: 'acme',
    stack: made.id,
    run: finished.id,
    webhook: hook.id,
    delivery: id,
    replay: replay && 'id' in replay ? replay.id : '',
    name: 'AWS_REGION',
    policy: policy.id,
    sample: sample.id,
  };

  /** The address that a template of the document has for what was put in. */
  const pathOf = (template: string): string =>
    template.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'missing');
  return { ids, pathOf };
}
