import { describe, expect, test } from 'vitest';
import { createIds } from '../../src/ids.ts';
import { createManagedStacks } from '../../src/stacks/managed-stacks.ts';
import type { Repository } from '../../src/stacks/repository.ts';
import type { WantedStack } from '../../src/stacks/repository-file-entry.ts';
import { createRepositoryStore } from '../../src/storage/repository-store.ts';
import { createSecretBox } from '../../src/storage/secret-box.ts';
import { createStackStore } from '../../src/storage/stack-store.ts';
import type { Tx } from '../../src/tx.ts';
import { anAccount, aRepository, stackSettings } from '../support/builders.ts';
import { manualClock } from '../support/manual-clock.ts';
import { tempDatabase } from '../support/temp-database.ts';

const infra = aRepository();
const shop = aRepository({ id: 22, fullName: 'acme/shop' });

async function opened() {
  const temp = tempDatabase();
  const { database } = temp;
  const clock = manualClock();
  const store = createStackStore(database, createSecretBox(Buffer.alloc(32, 7)));
  const repositories = createRepositoryStore(database);
  await database.write(async (tx) => {
    await repositories.saveAccount(tx, anAccount());
    for (const repository of [infra, shop]) await repositories.saveRepository(tx, repository);
  });
  const relabeled: string[] = [];
  const onRelabeled = async (_: Tx, key: string) => void relabeled.push(key);
  const managed = createManagedStacks({ store, clock, newId: createIds(clock), onRelabeled });
  const apply = (wanted: readonly WantedStack[], repository: Repository = infra) =>
    database.write((tx) => managed.apply(tx, repository, wanted));
  const put = async (id: string, variable: { name: string; value: string; secret: boolean }) => {
    const { key } = await stack(id);
    await database.write((tx) => store.putVariable(tx, key, { ...variable, access: 'all' }));
  };
  async function stack(id: string) {
    const found = await store.findInAccount(11, id);
    if (!found) throw new Error(`there is no stack ${id}`);
    return found;
  }
  const variables = async (id: string) =>
    (await store.environment((await stack(id)).key)).map(({ name, value, managedBy }) => [
      name,
      value,
      managedBy,
    ]);
  const close = () => temp[Symbol.asyncDispose]();
  return { store, database, apply, put, stack, variables, relabeled, [Symbol.asyncDispose]: close };
}

function wants(id: string, change: Partial<WantedStack> = {}): WantedStack {
  return {
    id,
    at: { line: 3, column: 11 },
    settings: stackSettings({ name: id }),
    environment: [],
    ...change,
  };
}

const variable = (name: string, value: string) => ({ name, value, at: { line: 9, column: 5 } });
const nothing = { created: [], changed: [], unchanged: [], released: [] };

describe('the stacks that a file wants', () => {
  test('are made, with their variables, and managed', async () => {
    await using world = await opened();

    const outcome = await world.apply([
      wants('network', { environment: [variable('LOG_LEVEL', 'info')] }),
      wants('dns'),
    ]);

    expect(outcome).toEqual({ kind: 'applied', changes: { ...nothing, created: ['network', 'dns'] } });
    expect(await world.stack('network')).toMatchObject({
      ...{
        account: 'acme',
        managedBy: 'file',
        repository: { id: 21 },
        settings: stackSettings({ name: 'network' }),
      },
    });
    expect(await world.variables('network')).toEqual([['LOG_LEVEL', 'info', 'file']]);
  });

  test('are told of when their labels change, and only then', async () => {
    await using world = await opened();
    await world.apply([wants('network'), wants('dns')]);
    const labels = ['prod'];
    const relabeled = wants('network', { settings: stackSettings({ name: 'network', labels }) });
    const renamed = wants('dns', { settings: stackSettings({ name: 'DNS' }) });

    await world.apply([relabeled, renamed]);
    await world.apply([relabeled, renamed]);

    expect(world.relabeled).toEqual([(await world.stack('network')).key]);
  });

  test('are left alone when nothing changed, and changed where something did', async () => {
    await using world = await opened();
    const dns = wants('dns', { environment: [variable('A', '1'), variable('B', '2')] });
    await world.apply([wants('network'), dns]);

    expect(await world.apply([wants('network'), dns])).toMatchObject({
      changes: { ...nothing, unchanged: ['network', 'dns'] },
    });
    const settings = stackSettings({ name: 'network', autodeploy: true });
    const changed = [wants('network', { settings }), wants('dns', { environment: [variable('B', '3')] })];
    expect(await world.apply(changed)).toMatchObject({
      changes: { ...nothing, changed: ['network', 'dns'] },
    });

    expect((await world.stack('network')).settings.autodeploy).toBe(true);
    expect(await world.variables('dns')).toEqual([['B', '3', 'file']]);
  });

  test('take over a stack of the repository that was made by API, and its plain variables', async () => {
    await using world = await opened();
    const settings = stackSettings({ name: 'Old Name', promotion: true });
    await world.database.write((tx) =>
      world.store.insert(tx, {
        key: 'k',
        id: 'dns',
        accountId: 11,
        repositoryId: 21,
        settings,
        createdAtMs: 0,
      }),
    );
    await world.put('dns', { name: 'LOG_LEVEL', value: 'debug', secret: false });
    await world.put('dns', { name: 'TOKEN', value: 'a secret', secret: true });
    await world.put('dns', { name: 'FREE', value: 'x', secret: false });

    const outcome = await world.apply([wants('dns', { environment: [variable('LOG_LEVEL', 'info')] })]);

    expect(outcome).toMatchObject({ changes: { changed: ['dns'] } });
    expect(await world.stack('dns')).toMatchObject({
      ...{ key: 'k', managedBy: 'file', settings: stackSettings({ name: 'dns' }) },
    });
    expect(await world.variables('dns')).toEqual([
      ['FREE', 'x', undefined],
      ['LOG_LEVEL', 'info', 'file'],
      ['TOKEN', 'a secret', undefined],
    ]);
  });

  test('that leave the file are released as they are, and can come back', async () => {
    await using world = await opened();
    const dns = wants('dns', { environment: [variable('A', '1')] });
    await world.apply([wants('network'), dns]);

    expect(await world.apply([wants('network')])).toMatchObject({
      changes: { ...nothing, unchanged: ['network'], released: ['dns'] },
    });
    expect(await world.stack('dns')).toMatchObject({ managedBy: null, settings: dns.settings });
    expect(await world.variables('dns')).toEqual([['A', '1', undefined]]);
    expect(await world.apply([wants('network')])).toMatchObject({ changes: { released: [] } });

    expect(await world.apply([wants('network'), dns])).toMatchObject({ changes: { changed: ['dns'] } });
    expect(await world.variables('dns')).toEqual([['A', '1', 'file']]);
  });

  test('are refused, all of them, when one belongs to another repository', async () => {
    await using world = await opened();
    await world.apply([wants('dns')], shop);
    await world.apply([wants('network')]);

    const outcome = await world.apply([
      wants('network', { settings: stackSettings({ name: 'network', autodeploy: true }) }),
      wants('new'),
      wants('dns', { at: { line: 7, column: 11 } }),
    ]);

    expect(outcome).toEqual({
      kind: 'refused',
      problems: [
        {
          ...{ line: 7, column: 11 },
          message: 'the stack dns belongs to another repository of the account; choose another name',
        },
      ],
    });
    expect((await world.stack('network')).settings.autodeploy).toBe(false);
    expect(await world.store.findInAccount(11, 'new')).toBeNull();
    expect(await world.stack('dns')).toMatchObject({ repository: { id: 22 }, managedBy: 'file' });
  });

  test('have 500 variables at most, together with those of the API', async () => {
    await using world = await opened();
    await world.apply([wants('dns')]);
    await world.put('dns', { name: 'FREE', value: 'x', secret: false });
    const named = (count: number) => Array.from({ length: count }, (_, index) => variable(`A${index}`, 'x'));

    expect(await world.apply([wants('dns', { environment: named(500) })])).toEqual({
      kind: 'refused',
      problems: [
        {
          ...{ line: 3, column: 11 },
          message: 'the stack has 1 variables beside those of the file; together it may have 500 at most',
        },
      ],
    });
    expect(await world.apply([wants('dns', { environment: named(499) })])).toMatchObject({ kind: 'applied' });
  });

  test('never replace a secret', async () => {
    await using world = await opened();
    await world.apply([wants('dns')]);
    await world.put('dns', { name: 'TOKEN', value: 'a secret', secret: true });

    const outcome = await world.apply([wants('dns', { environment: [variable('TOKEN', 'plain')] })]);

    expect(outcome).toEqual({
      kind: 'refused',
      problems: [
        {
          line: 9,
          column: 5,
          message: 'TOKEN is set as a secret of the stack; remove that first, or this line',
        },
      ],
    });
    expect(await world.variables('dns')).toEqual([['TOKEN', 'a secret', undefined]]);
  });

  test('say nothing about the stacks of other repositories', async () => {
    await using world = await opened();
    await world.apply([wants('dns')], shop);

    expect(await world.apply([wants('network')])).toMatchObject({ changes: { released: [] } });
    expect(await world.apply([])).toMatchObject({ changes: { ...nothing, released: ['network'] } });

    expect((await world.stack('dns')).managedBy).toBe('file');
  });
});
