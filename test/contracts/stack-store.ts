import { describe, expect, test } from 'vitest';
import type { EnvironmentVariable } from '../../src/stacks/environment.ts';
import type { Account, Repository } from '../../src/stacks/repository.ts';
import type { StackLock } from '../../src/stacks/stack.ts';
import type { NewStack, StackStore } from '../../src/stacks/stack-store.ts';
import type { Transactions } from '../../src/tx.ts';
import { anAccount, aRepository, stackSettings } from '../support/builders.ts';

export interface OpenedStackStore extends AsyncDisposable {
  readonly stacks: StackStore;
  readonly transactions: Transactions;
  addRepository(account: Account, repository: Repository): Promise<void>;
  /** The App does not see it any more. */
  removeRepository(repository: Repository): Promise<void>;
  /** Makes a run of the stack and gives a question: is it still there? */
  addRun(stackKey: string): Promise<() => Promise<boolean>>;
  /** Everything the database keeps on disk. */
  atRest(): Buffer | Promise<Buffer>;
}

const acme = anAccount();
const globex = anAccount({ id: 12, login: 'Globex', installationId: 102 });
const infra = aRepository();
const theirs = aRepository({ id: 22, accountId: 12, installationId: 102, fullName: 'Globex/infra' });

/** What every store of stacks must do. */
export function stackStoreContract(name: string, open: () => Promise<OpenedStackStore>): void {
  async function opened() {
    const world = await open();
    const { stacks, transactions } = world;
    await world.addRepository(acme, infra);
    await world.addRepository(globex, theirs);
    const write = transactions.write.bind(transactions);
    const insert = (change: Partial<NewStack> = {}) =>
      write((tx) => stacks.insert(tx, aNewStack({ key: 'key-1', ...change })));
    const put = (variable: Partial<EnvironmentVariable>, key = 'key-1') =>
      write((tx) => stacks.putVariable(tx, key, aVariable(variable)));
    return { ...world, write, insert, put, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
  }

  describe(`the stack store on ${name}`, () => {
    test('finds a stack by its key, by account and id in any case of the account, with its repository', async () => {
      await using world = await opened();
      const settings = stackSettings({
        labels: ['prod'],
        hooks: { ...stackSettings().hooks, afterRun: ['x'] },
      });
      await world.insert({ settings, createdAtMs: 77 });

      const stack = await world.stacks.findByKey('key-1');

      expect(stack).toEqual({
        ...{ key: 'key-1', id: 'network-prod', account: 'acme', createdAtMs: 77 },
        ...{ repository: infra, settings, lock: null, managedBy: null },
      });
      expect(await world.stacks.find('ACME', 'network-prod')).toEqual(stack);
      expect(await world.write((tx) => world.stacks.findByKey('key-1', tx))).toEqual(stack);
      expect(await world.stacks.find('globex', 'network-prod')).toBeNull();
      expect(await world.stacks.findByKey('key-2')).toBeNull();
    });

    test('has one stack with an id in an account, and the same id in another', async () => {
      await using world = await opened();

      expect(await world.insert()).toBe('inserted');
      expect(await world.insert({ key: 'key-2' })).toBe('exists');
      expect(await world.insert({ key: 'key-3', accountId: 12, repositoryId: 22 })).toBe('inserted');

      expect(await world.stacks.findByKey('key-2')).toBeNull();
    });

    test('finds a stack by the number of its account, in the transaction too', async () => {
      await using world = await opened();
      await world.insert();
      const find = (accountId: number, id: string) =>
        world.write((tx) => world.stacks.findInAccount(accountId, id, tx));

      expect(await find(11, 'network-prod')).toMatchObject({ key: 'key-1' });
      expect(await world.stacks.findInAccount(11, 'network-prod')).toMatchObject({ key: 'key-1' });
      expect([await find(12, 'network-prod'), await find(11, 'other')]).toEqual([null, null]);
    });

    test('lists the stacks of an account by id', async () => {
      await using world = await opened();
      for (const [key, id] of [
        ['key-1', 'b'],
        ['key-2', 'a'],
      ] as const)
        await world.insert({ key, id });
      await world.insert({ key: 'key-3', accountId: 12, repositoryId: 22 });

      expect((await world.stacks.ofAccount('ACME')).map(({ id }) => id)).toEqual(['a', 'b']);
      expect(await world.stacks.ofAccount('nobody')).toEqual([]);
    });

    test('knows who manages a stack, and nobody does once its repository cannot be read', async () => {
      await using world = await opened();
      await world.insert({ managedBy: 'file' });
      const managedBy = async () => (await world.stacks.findByKey('key-1'))?.managedBy;
      expect(await managedBy()).toBe('file');

      await world.write((tx) => world.stacks.setManagedBy(tx, 'key-1', null));
      expect(await managedBy()).toBeNull();

      await world.write((tx) => world.stacks.setManagedBy(tx, 'key-1', 'file'));
      await world.removeRepository(infra);
      expect(await managedBy()).toBeNull();
      await world.addRepository(acme, infra);
      expect(await managedBy()).toBe('file');
    });

    test('lets one of two win who take the same id at once', async () => {
      await using world = await opened();
      const answers = await Promise.all([world.insert({ key: 'key-1' }), world.insert({ key: 'key-2' })]);
      expect(answers.toSorted()).toEqual(['exists', 'inserted']);
    });

    test('finds several by their keys', async () => {
      await using world = await opened();
      for (const n of [1, 2, 3]) await world.insert({ key: `key-${n}`, id: `stack-${n}` });
      const found = async (...keys: string[]) =>
        (await world.stacks.findAll(keys)).map(({ key }) => key).toSorted();

      expect(await found('key-3', 'key-1', 'key-9')).toEqual(['key-1', 'key-3']);
      expect(await found()).toEqual([]);
    });

    test('knows the stacks of a repository', async () => {
      await using world = await opened();
      await world.insert({ key: 'key-1', id: 'b' });
      await world.insert({ key: 'key-2', id: 'a' });
      await world.insert({ key: 'key-3', accountId: 12, repositoryId: 22 });

      expect((await world.stacks.ofRepository(21)).map(({ id }) => id)).toEqual(['a', 'b']);
      expect(await world.write((tx) => world.stacks.ofRepository(99, tx))).toEqual([]);
    });

    test('shows a stack under the new name of its account and repository', async () => {
      await using world = await opened();
      await world.insert();

      await world.addRepository({ ...acme, login: 'acme-corp' }, { ...infra, fullName: 'acme-corp/infra' });

      expect(await world.stacks.findByKey('key-1')).toMatchObject({
        account: 'acme-corp',
        repository: { fullName: 'acme-corp/infra' },
      });
    });

    test('changes settings and nothing else', async () => {
      await using world = await opened();
      await world.insert();
      const settings = stackSettings({ name: 'Renamed', autodeploy: true });

      await world.write((tx) => world.stacks.updateSettings(tx, 'key-1', settings));

      expect(await world.stacks.findByKey('key-1')).toMatchObject({
        id: 'network-prod',
        settings,
        lock: null,
      });
    });

    test('locks and unlocks', async () => {
      await using world = await opened();
      await world.insert();
      const by = { holder: 'ada', holderKey: 'person:ada', kind: 'person' } as const;
      const lock: StackLock = { ...by, reason: 'maintenance', run: null, sinceMs: 5 };

      await world.write((tx) => world.stacks.setLock(tx, 'key-1', lock));
      expect((await world.stacks.findByKey('key-1'))?.lock).toEqual(lock);

      await world.write((tx) => world.stacks.setLock(tx, 'key-1', null));
      expect((await world.stacks.findByKey('key-1'))?.lock).toBeNull();
    });

    test('gives the environment back by name, secret or not', async () => {
      await using world = await opened();
      await world.insert();
      const token = aVariable({
        name: 'TOKEN',
        value: 'line one\nline "two" é',
        secret: true,
        access: 'apply',
      });
      const region = aVariable({ name: 'REGION', value: '', secret: false, access: 'all' });
      await world.put(token);
      await world.put(region);

      expect(await world.stacks.environment('key-1')).toEqual([region, token]);
      expect(await world.write((tx) => world.stacks.environment('key-1', tx))).toEqual([region, token]);

      await world.put({ ...region, value: 'eu-west-1', access: 'tracked' });
      expect((await world.stacks.environment('key-1'))[0]).toMatchObject({
        value: 'eu-west-1',
        access: 'tracked',
      });
    });

    test('knows which variables the repository file sets', async () => {
      await using world = await opened();
      await world.insert();
      const variable = aVariable({ managedBy: 'file' });
      await world.put(variable);
      expect(await world.stacks.environment('key-1')).toEqual([variable]);

      const { managedBy: _, ...free } = variable;
      await world.write((tx) => world.stacks.putVariable(tx, 'key-1', free));
      expect(await world.stacks.environment('key-1')).toStrictEqual([free]);
    });

    test('removes a variable, once', async () => {
      await using world = await opened();
      await world.insert();
      await world.put({ name: 'REGION' });
      const remove = () => world.write((tx) => world.stacks.removeVariable(tx, 'key-1', 'REGION'));

      expect([await remove(), await remove()]).toEqual([true, false]);
      expect(await world.stacks.environment('key-1')).toEqual([]);
    });

    test('keeps no value of the environment on disk in plain text', async () => {
      await using world = await opened();
      await world.insert();
      await world.put({ name: 'DATABASE_PASSWORD', value: 'correct-horse-battery-staple', secret: true });
      await world.put({ name: 'GREETING', value: 'not-secret-but-private', secret: false });

      const disk = await world.atRest();

      expect(disk.includes('DATABASE_PASSWORD')).toBe(true);
      expect(disk.includes('correct-horse-battery-staple')).toBe(false);
      expect(disk.includes('not-secret-but-private')).toBe(false);
    });

    test('removes a stack with its runs and its environment, and no other', async () => {
      await using world = await opened();
      await world.insert();
      await world.insert({ key: 'key-2', id: 'other' });
      await world.put({ name: 'REGION' });
      await world.put({ name: 'REGION' }, 'key-2');
      const [isThere, isOtherThere] = [await world.addRun('key-1'), await world.addRun('key-2')];

      await world.write((tx) => world.stacks.remove(tx, 'key-1'));

      expect(await world.stacks.findByKey('key-1')).toBeNull();
      expect(await world.stacks.environment('key-1')).toEqual([]);
      expect([await isThere(), await isOtherThere()]).toEqual([false, true]);
      expect(await world.stacks.environment('key-2')).toHaveLength(1);
      expect(await world.insert()).toBe('inserted');
    });

    test('keeps nothing of a transaction that failed', async () => {
      await using world = await opened();
      const failing = world.write(async (tx) => {
        await world.stacks.insert(tx, aNewStack({ key: 'key-1' }));
        await world.stacks.putVariable(tx, 'key-1', aVariable({}));
        throw new Error('rolled back');
      });
      await expect(failing).rejects.toThrow('rolled back');

      expect(await world.stacks.findByKey('key-1')).toBeNull();
      expect(await world.stacks.environment('key-1')).toEqual([]);
    });
  });
}

function aNewStack(change: Partial<NewStack>): NewStack {
  return {
    key: 'key-1',
    id: 'network-prod',
    accountId: 11,
    repositoryId: 21,
    settings: stackSettings(),
    createdAtMs: 1_795_000_000_000,
    ...change,
  };
}

function aVariable(change: Partial<EnvironmentVariable>): EnvironmentVariable {
  return { name: 'REGION', value: 'eu-central-1', secret: false, access: 'all', ...change };
}
