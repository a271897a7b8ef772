import { describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { createIds } from '../../src/ids.ts';
import type { Repository } from '../../src/stacks/repository.ts';
import { createStacks } from '../../src/stacks/stacks.ts';
import { createRepositoryStore } from '../../src/storage/repository-store.ts';
import { createSecretBox } from '../../src/storage/secret-box.ts';
import { createStackStore } from '../../src/storage/stack-store.ts';
import { anAccount, aRepository, person, stackSettings } from '../support/builders.ts';
import { manualClock } from '../support/manual-clock.ts';
import { tempDatabase } from '../support/temp-database.ts';

const input = { name: 'Network Prod', repository: 'acme/infra', vendor: { pulumi: { stackName: 'dev' } } };

function opened(repository: Partial<Repository> = {}) {
  const temp = tempDatabase();
  const { database } = temp;
  const clock = manualClock();
  const store = createStackStore(database, createSecretBox(Buffer.alloc(32, 7)));
  const woken: string[] = [];
  const relabeled: string[] = [];
  const known = aRepository(repository);
  const stacks = createStacks({
    store,
    repositories: createRepositoryStore(database),
    directory: {
      lookUp: async (name) => (name === 'acme/infra' ? { account: anAccount(), repository: known } : null),
    },
    vendors: [
      {
        name: 'pulumi',
        schema: z.strictObject({ stackName: z.string() }),
        refusesVariable: (name) => name.startsWith('PULUMI_'),
      },
      {
        name: 'terraform',
        schema: z.strictObject({}),
        refusesVariable: (name) => name === 'TF_WORKSPACE',
      },
    ],
    transactions: database,
    clock,
    newId: createIds(clock),
    onUnlock: (key) => woken.push(key),
    onRelabeled: async (_, key) => void relabeled.push(key),
  });
  const create = async (change = {}) => stacks.create(await stacks.prepare({ ...input, ...change }));
  const reread = async (key: string) => {
    const stack = await store.findByKey(key);
    if (!stack) throw new Error('the stack is gone');
    return stack;
  };
  const close = () => temp[Symbol.asyncDispose]();
  return { stacks, store, database, clock, woken, relabeled, create, reread, [Symbol.asyncDispose]: close };
}

describe('creating a stack', () => {
  it('fills in what was not said, the branch from the repository', async () => {
    await using world = opened({ defaultBranch: 'trunk' });

    const stack = await world.create();

    expect(stack).toMatchObject({ account: 'acme', id: 'network-prod', lock: null, repository: { id: 21 } });
    expect(stack.settings).toEqual(
      stackSettings({ branch: 'trunk', vendor: { pulumi: { stackName: 'dev' } } }),
    );
  });

  it('keeps what was said', async () => {
    await using world = opened();
    const said = {
      ...{ description: 'd', labels: ['a'], branch: 'release', projectRoot: 'infra/', autodeploy: true },
      ...{ additionalProjectGlobs: ['m/**'], planBinding: false, promotion: true, publicDetails: true },
      ...{ allowForks: true, trustedBots: ['renovate[bot]', 'Copilot'] },
      ...{ checks: 'aggregate' as const, unaffectedChecks: true, deploymentEnvironment: 'production' },
    };

    const { settings } = await world.create({ ...said, hooks: { afterRun: ['notify'] } });

    expect(settings).toMatchObject({ ...said, projectRoot: 'infra' });
    expect(settings.hooks).toEqual({ ...stackSettings().hooks, afterRun: ['notify'] });
  });

  it('is refused for a name that is taken in the account, in whatever spelling', async () => {
    await using world = opened();
    await world.create();
    await expect(world.create({ name: 'NETWORK -- prod' })).rejects.toMatchObject({ code: 'stack-exists' });
  });

  it('is refused for a name without a letter or a digit', async () => {
    await using world = opened();
    await expect(world.create({ name: '!!!' })).rejects.toMatchObject({
      ...{ code: 'invalid-input', issues: [{ path: 'name' }] },
    });
  });

  it('is refused where the App is not installed', async () => {
    await using world = opened();
    await expect(world.create({ repository: 'acme/other' })).rejects.toMatchObject({
      code: 'repository-not-installed',
    });
  });
});

describe('the name of its environment of deployments', () => {
  test.each([null, '', 'p', 'Production / EU', 'é'.repeat(255)])('may be %j', async (name) => {
    await using world = opened();
    const { settings } = await world.create({ deploymentEnvironment: name });
    expect(settings.deploymentEnvironment).toBe(name);
  });

  test.each([' ', ' prod', 'prod\n', 'a\u0000b', 'a\u007fb', 'a'.repeat(256)])('is not %j', async (name) => {
    await using world = opened();
    await expect(world.create({ deploymentEnvironment: name })).rejects.toMatchObject({
      ...{ code: 'invalid-input', issues: [{ path: 'deploymentEnvironment' }] },
    });
  });
});

describe('changing a stack', () => {
  it('touches what was said only, and never its id', async () => {
    await using world = opened();
    const stack = await world.create({ hooks: { beforeInit: ['npm ci'] } });

    const changed = await world.stacks.update(stack, { name: 'Renamed', hooks: { afterRun: ['notify'] } });

    expect(changed).toMatchObject({
      id: 'network-prod',
      settings: { name: 'Renamed', vendor: input.vendor },
    });
    expect(changed.settings.hooks).toMatchObject({ beforeInit: ['npm ci'], afterRun: ['notify'] });
  });

  it('tells when its labels are others by then, and only then', async () => {
    await using world = opened();
    const stack = await world.create({ labels: ['a'] });

    await world.stacks.update(stack, { labels: ['a'], name: 'Renamed' });
    expect(world.relabeled).toEqual([]);
    await world.stacks.update(stack, { labels: ['a', 'prod'] });

    expect(world.relabeled).toEqual([stack.key]);
  });

  it('keeps what somebody else changed at the same time', async () => {
    await using world = opened();
    const stack = await world.create();

    await Promise.all([
      world.stacks.update(stack, { autodeploy: true }),
      world.stacks.update(stack, { description: 'described' }),
    ]);

    expect((await world.reread(stack.key)).settings).toMatchObject({
      ...{ autodeploy: true, description: 'described' },
    });
  });

  it('is refused once it is deleted', async () => {
    await using world = opened();
    const stack = await world.create();
    await world.database.write((tx) => world.store.remove(tx, stack.key));
    await expect(world.stacks.update(stack, { autodeploy: true })).rejects.toMatchObject({
      code: 'not-found',
    });
  });
});

describe('the lock of a stack', () => {
  it('belongs to one person, who may take it again with another reason', async () => {
    await using world = opened();
    const stack = await world.create();
    await world.stacks.lock(stack, person('ada'), 'audit');
    await world.stacks.lock(stack, person('ada'), 'longer audit');

    await expect(world.stacks.lock(stack, person('bob'), '')).rejects.toMatchObject({
      ...{ code: 'locked', message: 'The stack is locked by ada: longer audit' },
    });
    expect((await world.reread(stack.key)).lock).toEqual({
      ...{ holder: 'ada', holderKey: 'person:ada', kind: 'person', reason: 'longer audit', run: null },
      sinceMs: world.clock.nowMs(),
    });
  });

  it('goes to one of two who take it at once', async () => {
    await using world = opened();
    const stack = await world.create();
    const answers = await Promise.allSettled(
      ['ada', 'bob'].map((who) => world.stacks.lock(stack, person(who), '')),
    );
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });

  it('is nobody else’s when the server has set it, not even of somebody of its name', async () => {
    await using world = opened();
    const stack = await world.create();
    const by = { holder: 'slipway', holderKey: '', kind: 'system' } as const;
    const lock = { ...by, reason: 'lost', run: 'r', sinceMs: 1 };
    await world.database.write((tx) => world.store.setLock(tx, stack.key, lock));

    await expect(world.stacks.lock(stack, person('slipway'), '')).rejects.toMatchObject({ code: 'locked' });
    expect((await world.reread(stack.key)).lock).toEqual(lock);
  });

  it('is taken away as it was seen, and runs go on', async () => {
    await using world = opened();
    const stack = await world.create();
    await world.stacks.lock(stack, person('ada'), '');

    await world.stacks.unlock(await world.reread(stack.key));

    expect((await world.reread(stack.key)).lock).toBeNull();
    expect(world.woken).toEqual([stack.key]);
  });

  it('is not taken from somebody who has locked since', async () => {
    await using world = opened();
    const stack = await world.create();
    await world.stacks.lock(stack, person('ada'), '');
    const seen = await world.reread(stack.key);
    await world.stacks.unlock(seen);
    world.clock.advance(1000);
    await world.stacks.lock(stack, person('bob'), 'mine now');

    await expect(world.stacks.unlock(seen)).rejects.toMatchObject({ code: 'locked' });
    expect((await world.reread(stack.key)).lock?.holder).toBe('bob');

    await world.stacks.unlock(await world.reread(stack.key));
    await world.stacks.lock(stack, person('ada'), 'again');
    await expect(world.stacks.unlock(seen)).rejects.toMatchObject({ code: 'locked' });
  });

  it('is not that of a token of the same name', async () => {
    await using world = opened();
    const stack = await world.create();
    const token = { kind: 'token', id: 't1', name: 'ada', role: 'writer', account: null } as const;
    await world.stacks.lock(stack, token, 'mine');

    await expect(world.stacks.lock(stack, person('ada'), '')).rejects.toMatchObject({ code: 'locked' });
    await world.stacks.lock(stack, token, 'still mine');
  });

  it('is there again when the lock of the server that covered it is taken away', async () => {
    await using world = opened();
    const stack = await world.create();
    await world.stacks.lock(stack, person('ada'), 'audit');
    const adas = (await world.reread(stack.key)).lock;
    if (!adas) throw new Error('it is not locked');
    const system = { ...adas, holder: 'slipway', holderKey: '', kind: 'system', covers: adas } as const;
    await world.database.write((tx) => world.store.setLock(tx, stack.key, system));

    await world.stacks.unlock(await world.reread(stack.key));

    expect((await world.reread(stack.key)).lock).toEqual(adas);
  });

  it('may be taken away twice', async () => {
    await using world = opened();
    const stack = await world.create();
    await world.stacks.lock(stack, person('ada'), '');
    const seen = await world.reread(stack.key);
    await Promise.all([world.stacks.unlock(seen), world.stacks.unlock(seen)]);
    expect((await world.reread(stack.key)).lock).toBeNull();
  });
});
