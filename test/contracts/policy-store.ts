import { describe, expect, it } from 'vitest';
import { digestOf, type Policy } from '../../src/policies/policy.ts';
import type { PolicyStore } from '../../src/policies/policy-store.ts';
import type { Transactions } from '../../src/tx.ts';
import { aPolicy } from '../support/policies.ts';

export interface PolicyStoreWorld extends AsyncDisposable {
  readonly policies: PolicyStore;
  readonly transactions: Transactions;
  /** Of account 11 ("acme"), or of 12 ("other"). */
  addStack(labels?: readonly string[], accountId?: 11 | 12): Promise<string>;
  removeStack(key: string): Promise<void>;
}

const other = { id: 12, login: 'other' };
const all = { account: null, after: null, limit: 100 };

export function policyStoreContract(name: string, open: () => Promise<PolicyStoreWorld>): void {
  async function opened() {
    const world = await open();
    const { policies, transactions } = world;
    return {
      ...world,
      insert: (policy: Policy) => transactions.write((tx) => policies.insert(tx, policy)),
      update: (policy: Policy, was: number) => transactions.write((tx) => policies.update(tx, policy, was)),
      attach: (id: string, key: string) => transactions.write((tx) => policies.attach(tx, id, key)),
      namesOf: async (key: string) => (await policies.ofStack(key, 'PLAN')).map((policy) => policy.name),
      [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
    };
  }

  describe(`policy store on ${name}`, () => {
    it('gives back what was put in, with its first version', async () => {
      await using world = await opened();
      const policy = aPolicy({ labels: ['autoattach:prod'], description: 'ü', regoVersion: 0 });
      const login = aPolicy({ id: 'login', account: null, kind: 'LOGIN' });
      expect([await world.insert(policy), await world.insert(login)]).toEqual(['inserted', 'inserted']);
      expect(await world.policies.find(policy.id)).toEqual(policy);
      expect(await world.policies.find('login')).toEqual(login);
      expect(await world.policies.find('nobody')).toBeNull();
      const { version, body, regoVersion, rules, digest, updatedAtMs, updatedBy } = policy;
      expect(await world.policies.versions(policy.id)).toEqual([
        { version, body, regoVersion, rules, digest, createdAtMs: updatedAtMs, createdBy: updatedBy },
      ]);
    });

    it('has each name once in an account, however it is written', async () => {
      await using world = await opened();
      expect(await world.insert(aPolicy({ name: 'Freeze' }))).toBe('inserted');
      expect(await world.insert(aPolicy({ id: 'b', name: 'freeze' }))).toBe('name-taken');
      expect(await world.insert(aPolicy({ id: 'c', name: 'freeze', account: other }))).toBe('inserted');
      const login = aPolicy({ id: 'd', name: 'freeze', account: null, kind: 'LOGIN' });
      expect(await world.insert(login)).toBe('inserted');
      expect(await world.insert({ ...login, id: 'e' })).toBe('name-taken');
      expect((await world.policies.list(all)).map(({ id }) => id)).toHaveLength(3);
    });

    it('counts bodies, and keeps each', async () => {
      await using world = await opened();
      const first = aPolicy();
      await world.insert(first);
      const renamed = { ...first, name: 'other', labels: ['x'], updatedAtMs: 5, updatedBy: 'bob' };
      expect(await world.update(renamed, 1)).toBe('updated');
      expect(await world.policies.find(first.id)).toEqual(renamed);

      const body = 'package slipway\n';
      const second = { ...renamed, body, digest: digestOf({ body, regoVersion: 1 }), updatedAtMs: 9 };
      expect(await world.update(second, 1)).toBe('updated');
      expect(await world.policies.find(first.id)).toEqual({ ...second, version: 2 });
      expect(await world.policies.versions(first.id)).toMatchObject([
        { version: 2, body, createdAtMs: 9, createdBy: 'bob' },
        { version: 1, body: first.body, createdAtMs: first.createdAtMs, createdBy: first.updatedBy },
      ]);
    });

    it('changes nothing that is another by now, nor takes the name of another', async () => {
      await using world = await opened();
      const policy = aPolicy();
      await world.insert(policy);
      await world.insert(aPolicy({ id: 'b', name: 'taken' }));
      expect(await world.update({ ...policy, description: 'new' }, 2)).toBe('changed-since');
      expect(await world.update(aPolicy({ id: 'gone', name: 'x' }), 1)).toBe('changed-since');
      expect(await world.update({ ...policy, name: 'Taken' }, 1)).toBe('name-taken');
      expect(await world.update({ ...policy, name: policy.name.toUpperCase() }, 1)).toBe('updated');
    });

    it('lists by id, page by page, of an account or a kind', async () => {
      await using world = await opened();
      for (const id of ['c', 'a', 'b']) await world.insert(aPolicy({ id, name: id }));
      await world.insert(aPolicy({ id: 'd', kind: 'PUSH', name: 'd' }));
      await world.insert(aPolicy({ id: 'e', account: other }));
      await world.insert(aPolicy({ id: 'f', account: null, kind: 'LOGIN' }));
      const ids = async (filter: Partial<Parameters<PolicyStore['list']>[0]>) =>
        (await world.policies.list({ ...all, ...filter })).map(({ id }) => id).join('');
      expect(await ids({})).toBe('abcdef');
      expect(await ids({ limit: 2, after: 'a' })).toBe('bc');
      expect(await ids({ account: 'acme' })).toBe('abcd');
      expect(await ids({ account: 'acme', kind: 'PUSH' })).toBe('d');
      expect(await ids({ account: 'other' })).toBe('e');
    });

    it('judges a stack by attachment and by label, inside the account, in the order of names', async () => {
      await using world = await opened();
      const [prod, dev] = [await world.addStack(['prod']), await world.addStack()];
      const foreign = await world.addStack(['prod'], 12);
      await world.insert(aPolicy({ id: 'a', name: 'z attached' }));
      await world.insert(aPolicy({ id: 'b', name: 'y by label', labels: ['autoattach:prod'] }));
      await world.insert(aPolicy({ id: 'c', name: 'x everywhere', labels: ['autoattach:*'] }));
      await world.insert(aPolicy({ id: 'd', name: 'w', kind: 'PUSH', labels: ['autoattach:*'] }));
      await world.attach('a', dev);
      await world.attach('c', dev);
      await world.attach('a', dev);

      expect(await world.namesOf(prod)).toEqual(['x everywhere', 'y by label']);
      expect(await world.namesOf(dev)).toEqual(['x everywhere', 'z attached']);
      expect(await world.namesOf(foreign)).toEqual([]);
      expect(await world.namesOf('no stack')).toEqual([]);
      expect(await world.policies.stacksOf('a')).toEqual([dev]);
      expect(await world.policies.stacksOf('b')).toEqual([prod]);
      expect(await world.policies.stacksOf('c')).toEqual([prod, dev].sort());
      expect(await world.policies.attachedTo('b')).toEqual([]);
      expect(await world.policies.attachedTo('c')).toEqual([dev]);
    });

    it('sees inside a transaction what it wrote there', async () => {
      await using world = await opened();
      const key = await world.addStack();
      const { policies } = world;
      await world.transactions.write(async (tx) => {
        await policies.insert(tx, aPolicy());
        await policies.attach(tx, aPolicy().id, key);
        expect(await policies.ofStack(key, 'PLAN', tx)).toEqual([aPolicy()]);
        expect(await policies.ofAccount(11, 'PLAN', tx)).toEqual([aPolicy()]);
        expect(await policies.attachedTo(aPolicy().id, tx)).toEqual([key]);
        expect(await policies.stacksOf(aPolicy().id, tx)).toEqual([key]);
        expect(await policies.find(aPolicy().id, tx)).toEqual(aPolicy());
      });
    });

    it('finds those of an account, and those of the instance', async () => {
      await using world = await opened();
      await world.insert(aPolicy({ id: 'a', name: 'b', kind: 'NOTIFICATION' }));
      await world.insert(aPolicy({ id: 'b', name: 'a', kind: 'NOTIFICATION' }));
      await world.insert(aPolicy({ id: 'c', kind: 'LOGIN', account: null }));
      const ids = async (accountId: number | null, kind: 'NOTIFICATION' | 'LOGIN') =>
        (await world.policies.ofAccount(accountId, kind)).map(({ id }) => id);
      expect(await ids(11, 'NOTIFICATION')).toEqual(['b', 'a']);
      expect(await ids(12, 'NOTIFICATION')).toEqual([]);
      expect(await ids(null, 'LOGIN')).toEqual(['c']);
    });

    it('lets notification policies judge all stacks of their account, and no other', async () => {
      await using world = await opened();
      const key = await world.addStack();
      await world.insert(aPolicy({ id: 'a', name: 'a', kind: 'NOTIFICATION' }));
      await world.insert(aPolicy({ id: 'b', name: 'b', kind: 'NOTIFICATION', account: other }));
      await world.insert(aPolicy({ id: 'c', name: 'c', kind: 'TRIGGER' }));

      const of = async (kind: 'NOTIFICATION' | 'TRIGGER') =>
        (await world.policies.ofStack(key, kind)).map(({ id }) => id);
      expect([await of('NOTIFICATION'), await of('TRIGGER')]).toEqual([['a'], []]);
      expect(await world.policies.stacksOf('a')).toEqual([key]);
      expect(await world.policies.stacksOf('b')).toEqual([]);
    });

    it('lets go of a policy with all that hangs on it, and of what hangs on a stack', async () => {
      await using world = await opened();
      const { policies, transactions } = world;
      const [one, two] = [await world.addStack(), await world.addStack()];
      await world.insert(aPolicy({ id: 'a' }));
      await world.attach('a', one);
      await world.attach('a', two);
      await world.removeStack(two);
      expect(await policies.attachedTo('a')).toEqual([one]);

      const detach = () => transactions.write((tx) => policies.detach(tx, 'a', one));
      expect([await detach(), await detach()]).toEqual([true, false]);
      await world.attach('a', one);
      const remove = () => transactions.write((tx) => policies.delete(tx, 'a'));
      expect([await remove(), await remove()]).toEqual([true, false]);
      expect(await policies.versions('a')).toEqual([]);
      expect(await policies.stacksOf('a')).toEqual([]);
      expect(await world.namesOf(one)).toEqual([]);
    });
  });
}
