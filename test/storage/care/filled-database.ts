import { join } from 'node:path';
import { openStores, type Stores } from '../../../src/storage/stores.ts';
import { aCommit, anAccount, aRepository, aWebhook, stackSettings } from '../../support/builders.ts';
import { aJudgement, aPolicy } from '../../support/policies.ts';
import { tempDirectory } from '../../support/temp-database.ts';

export const planFile = Buffer.alloc(3000, 'plan ');
export const webhook = {
  id: '01JWEBHOOK0000000000000000',
  secret: 'the secret of the webhook',
  headers: { authorization: 'Bearer the-token' },
};

/** A data directory whose database has a value in every column that is encrypted; closed, with nothing under way. */
export async function filledDirectory(variables = 45) {
  const directory = tempDirectory();
  const dataDir = join(directory.path, 'data');
  const paths = {
    dataDir,
    databasePath: join(dataDir, 'slipway.db'),
    secretKeyPath: join(dataDir, 'secret.key'),
  };
  const stores = await openStores(paths);
  await fill(stores, variables);
  await stores.database[Symbol.asyncDispose]();
  return { directory, paths, [Symbol.dispose]: () => directory[Symbol.dispose]() };
}

const place = { actor: 'person:ada', key: 'the key' };
const answer = { status: 201, headers: {}, body: 'a token' };

async function fill(stores: Stores, variables: number) {
  const { database, repositories, stacks, runs, webhooks, idempotency, policies, decisions } = stores;
  const sealed = await runs.sealPlan('run-1', {
    hasChanges: true,
    steps: [{ op: 'create' }],
    document: { name: 'tool', content: { note: 'the document of a plan' } },
    file: planFile,
  });
  const input = await decisions.packSample(Buffer.from('the input of a policy'));
  await database.write(async (tx) => {
    await repositories.saveAccount(tx, anAccount());
    await repositories.saveRepository(tx, aRepository());
    const stack = { key: 'stack-1', id: 'prod', accountId: 11, repositoryId: 21, createdAtMs: 1 };
    await stacks.insert(tx, { ...stack, settings: stackSettings() });
    for (let index = 0; index < variables; index += 1) {
      const value = { value: `value ${index}`, secret: true, access: 'all' } as const;
      await stacks.putVariable(tx, 'stack-1', { name: `NAME_${index}`, ...value });
    }
    await runs.insert(tx, {
      ...{ id: 'run-1', stackKey: 'stack-1', type: 'TRACKED', branch: 'main', commit: aCommit() },
      ...{ createdAtMs: 1, triggeredBy: 'ada', startedBy: 'ada', priority: 0, dedupeKey: 'one' },
    });
    await runs.savePlan(tx, sealed);
    await runs.saveFrozen(tx, 'run-1', { settings: stackSettings(), variables: [], exports: { A: 'b' } });
    await webhooks.insert(tx, aWebhook({ ...webhook, stackKey: 'stack-1' }));
    await idempotency.put(tx, place, { request: 'digest', answer }, 1);
    await policies.insert(tx, aPolicy());
    const about = { accountId: 11, stackKey: 'stack-1', runId: null, subject: 'the plan' };
    await decisions.record(tx, aJudgement({ sample: true }), about, input);
    await webhooks.update(tx, webhook.id, { oldSecrets: [{ secret: 'an old one', untilMs: 9 }] });
  });
}

/** Everything that is encrypted, as the stores give it. */
export async function secretsOf({ database, stacks, runs, webhooks, idempotency, samples }: Stores) {
  const kept = await samples.list(aPolicy().id);
  return {
    variables: (await stacks.environment('stack-1')).map(({ name, value }) => `${name}=${value}`).sort(),
    plan: await runs.plan('run-1'),
    planDocument: await runs.planDocument('run-1'),
    planFile: (await runs.planFile('run-1'))?.toString(),
    frozen: (await runs.frozen('run-1'))?.exports,
    webhook: await webhooks.find(webhook.id),
    answer: (await database.write((tx) => idempotency.find(tx, place)))?.answer,
    samples: await Promise.all(kept.map(({ id }) => samples.input(id))),
  };
}
