import { createIds } from '../../src/ids.ts';
import { createDecisionStore } from '../../src/storage/decision-store.ts';
import { createOverrideStore } from '../../src/storage/override-store.ts';
import { createPolicyStore } from '../../src/storage/policy-store.ts';
import { createRepositoryStore } from '../../src/storage/repository-store.ts';
import { createRunStore } from '../../src/storage/run-store.ts';
import { createSampleStore } from '../../src/storage/sample-store.ts';
import { createSecretBox } from '../../src/storage/secret-box.ts';
import { createStackStore } from '../../src/storage/stack-store.ts';
import { decisionStoreContract } from '../contracts/decision-store.ts';
import { overrideStoreContract } from '../contracts/override-store.ts';
import { policyStoreContract } from '../contracts/policy-store.ts';
import { aCommit, anAccount, aRepository, stackSettings } from '../support/builders.ts';
import { manualClock } from '../support/manual-clock.ts';
import { tempDatabase } from '../support/temp-database.ts';

const repositoryOf = { 11: 21, 12: 22 } as const;

async function world() {
  const temp = tempDatabase();
  const { database } = temp;
  const box = createSecretBox(Buffer.alloc(32, 7));
  const clock = manualClock();
  const stacks = createStackStore(database, box);
  const runs = createRunStore(database, box);
  const repositories = createRepositoryStore(database);
  await database.write(async (tx) => {
    await repositories.saveAccount(tx, anAccount());
    await repositories.saveAccount(tx, anAccount({ id: 12, login: 'other' }));
    await repositories.saveRepository(tx, aRepository());
    await repositories.saveRepository(tx, aRepository({ id: 22, accountId: 12, fullName: 'other/infra' }));
  });
  let made = 0;
  return {
    transactions: database,
    policies: createPolicyStore(database),
    decisions: createDecisionStore(database, box, { clock, newId: createIds(clock) }),
    samples: createSampleStore(database, box),
    overrides: createOverrideStore(database),
    clock,
    async addStack(labels: readonly string[] = [], accountId: 11 | 12 = 11) {
      made += 1;
      const key = `stack-${made}`;
      const stack = { key, id: key, accountId, repositoryId: repositoryOf[accountId], createdAtMs: 0 };
      const settings = stackSettings({ labels: [...labels] });
      await database.write((tx) => stacks.insert(tx, { ...stack, settings }));
      return key;
    },
    removeStack: (key: string) => database.write((tx) => stacks.remove(tx, key)),
    async addRun(stackKey: string) {
      const id = `run of ${stackKey}`;
      await database.write((tx) =>
        runs.insert(tx, {
          ...{ id, stackKey, type: 'TRACKED', branch: 'main', commit: aCommit(), createdAtMs: 0 },
          ...{ triggeredBy: 'ada', startedBy: 'person:ada', priority: 0, dedupeKey: id },
        }),
      );
      return id;
    },
    async removeRun(id: string) {
      await database.write((tx) => database.inside(tx).deleteFrom('run').where('id', '=', id).execute());
    },
    dump: () => temp.atRest(),
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

policyStoreContract('SQLite', world);
decisionStoreContract('SQLite', world);
overrideStoreContract('SQLite', world);
