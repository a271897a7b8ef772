import { describe, expect, it } from 'vitest';
import { actorName } from '../../src/access/actor.ts';
import { createIds } from '../../src/ids.ts';
import { createSourceCheck } from '../../src/policies/check-source.ts';
import { createPolicies, type NewPolicy } from '../../src/policies/policies.ts';
import type { PolicyKind } from '../../src/policies/policy.ts';
import { createPolicyStore } from '../../src/storage/policy-store.ts';
import { createRepositoryStore } from '../../src/storage/repository-store.ts';
import { createSecretBox } from '../../src/storage/secret-box.ts';
import { createStackStore } from '../../src/storage/stack-store.ts';
import { UserError } from '../../src/user-error.ts';
import { anAccount, aRepository, person, stackSettings } from '../support/builders.ts';
import { manualClock } from '../support/manual-clock.ts';
import { tempDatabase } from '../support/temp-database.ts';

const acme = { id: 11, login: 'acme' };
const anything = () => undefined;
const [ada, bob] = [person('ada'), person('bob')];

function aNewPolicy(change: Partial<NewPolicy> = {}): NewPolicy {
  const content = { name: 'no deletes', description: '', labels: [], body: 'first', regoVersion: 1 } as const;
  return { account: acme, kind: 'PLAN', ...content, ...change };
}

/** At least one for each kind. */
const declared = [
  ...(['deny', 'approve', 'trigger', 'inbox', 'track'] as const).map((name) => ({ name, line: 1 })),
  { name: 'denny', line: 9 },
].map((rule) => ({ ...rule, type: 'unknown' as const }));

async function world() {
  const temp = tempDatabase();
  const { database } = temp;
  const clock = manualClock();
  const stacks = createStackStore(database, createSecretBox(Buffer.alloc(32, 7)));
  const repositories = createRepositoryStore(database);
  const store = createPolicyStore(database);
  await database.write(async (tx) => {
    for (const [id, login] of [
      [11, 'acme'],
      [12, 'other'],
    ] as const) {
      await repositories.saveAccount(tx, anAccount({ id, login }));
      await repositories.saveRepository(tx, aRepository({ id, accountId: id, fullName: `${login}/infra` }));
      const stack = { key: login, id: 'prod', accountId: id, repositoryId: id, createdAtMs: 0 };
      await stacks.insert(tx, { ...stack, settings: stackSettings({ labels: ['prod'] }) });
    }
  });
  const told: string[] = [];
  const compiled: string[] = [];
  const engine = { isThere: true };
  const policies = createPolicies({
    ...{ store, stacks, transactions: database, clock, newId: createIds(clock) },
    check: createSourceCheck({
      async check({ body }) {
        compiled.push(body);
        if (!engine.isThere) return { kind: 'unavailable', reason: 'there is no opa' };
        if (body === 'wrong') {
          return { kind: 'invalid', errors: [{ message: 'unexpected', line: 3, column: 7 }] };
        }
        return { kind: 'valid', package: 'slipway', rules: declared };
      },
    }),
    async onLoginPolicyChanged(_tx, by) {
      told.push(`logins, by ${actorName(by)}`);
    },
    async onChanged(tx, policy, stackKeys) {
      // It sees what was decided.
      const now = (await store.find(policy.id, tx)) === null ? 'gone' : 'there';
      told.push(`${policy.name} ${now} ${stackKeys.join()}`);
    },
  });
  const stack = async (key: string) => (await stacks.findByKey(key)) ?? Promise.reject(new Error('gone'));
  return {
    ...{ policies, store, told, compiled, engine, clock, stack },
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof UserError ? error.code : error),
  );

describe('policies', () => {
  it('are saved once they are compiled, with hints', async () => {
    await using fixture = await world();
    const { policy, hints } = await fixture.policies.create(aNewPolicy(), ada);
    expect(policy).toMatchObject({ ...aNewPolicy(), rules: ['deny'], version: 1, updatedBy: 'ada' });
    expect(hints).toEqual(['line 9: denny is not a rule of PLAN policies; did you mean deny?']);
    expect(await fixture.policies.find(policy.id)).toEqual(policy);
  });

  it.each([
    ['a body that does not compile', true, 'policy-invalid'],
    ['no engine', false, 'policy-engine-unavailable'],
  ])('are not saved with %s, and nothing is lost', async (_what, isThere, code) => {
    await using fixture = await world();
    const { policies, engine } = fixture;
    const { policy } = await policies.create(aNewPolicy(), ada);
    engine.isThere = isThere;
    const wrong = { ...aNewPolicy({ name: 'new', body: 'wrong' }) };
    expect(await codeOf(policies.create(wrong, ada))).toBe(code);
    expect(await codeOf(policies.update(policy.id, wrong, bob, anything))).toBe(code);
    const filter = { account: null, after: null, limit: 10 };
    expect(await policies.list(filter)).toEqual([policy]);
  });

  it('tell where the body is wrong', async () => {
    await using fixture = await world();
    await expect(fixture.policies.create(aNewPolicy({ body: 'wrong' }), ada)).rejects.toMatchObject({
      message: 'line 3: unexpected',
      issues: [{ path: 'body', message: 'unexpected', line: 3, column: 7 }],
    });
  });

  it('are renamed without an engine, as the body was compiled before', async () => {
    await using fixture = await world();
    const { policies, engine, compiled } = fixture;
    const { policy } = await policies.create(aNewPolicy(), ada);
    engine.isThere = false;
    const saved = await policies.update(policy.id, aNewPolicy({ name: 'other' }), bob, anything);
    expect(saved?.policy).toMatchObject({ name: 'other', version: 1, rules: ['deny'], updatedBy: 'bob' });
    expect(compiled).toEqual(['first']);
  });

  it('become a new version with another body, and tell which stacks are concerned', async () => {
    await using fixture = await world();
    const { policies, told } = fixture;
    const { policy } = await policies.create(aNewPolicy({ labels: ['autoattach:prod'] }), ada);
    const saved = await policies.update(policy.id, aNewPolicy({ body: 'second' }), bob, anything);
    await policies.attach(policy.id, 'acme');
    await policies.detach(policy.id, 'acme');
    await policies.attach(policy.id, 'acme');
    await policies.remove(policy.id, ada, anything);

    expect(saved?.policy.version).toBe(2);
    expect(told).toEqual([
      ...['no deletes there acme', 'no deletes there acme', 'no deletes there acme'],
      ...['no deletes there acme', 'no deletes there acme', 'no deletes gone acme'],
    ]);
    expect(await policies.update(policy.id, aNewPolicy(), bob, anything)).toBeNull();
    expect(await policies.remove(policy.id, ada, anything)).toBe(false);
  });

  it('are changed and removed only when the caller agrees with what is there', async () => {
    await using fixture = await world();
    const { policies } = fixture;
    const { policy } = await policies.create(aNewPolicy(), ada);
    const refuse = () => {
      throw new UserError('precondition-failed', 'changed');
    };
    const update = policies.update(policy.id, aNewPolicy({ name: 'x' }), bob, refuse);
    expect(await codeOf(update)).toBe('precondition-failed');
    expect(await codeOf(policies.remove(policy.id, ada, refuse))).toBe('precondition-failed');
    expect(await policies.find(policy.id)).toEqual(policy);
  });

  it('tell who decided anew about logins', async () => {
    await using fixture = await world();
    const { policies, told } = fixture;
    const wanted = { kind: 'LOGIN', account: null } as const;
    const { policy } = await policies.create(aNewPolicy(wanted), ada);
    await policies.update(policy.id, aNewPolicy({ body: 'second' }), bob, anything);
    await policies.remove(policy.id, ada, anything);
    await policies.create(aNewPolicy({ name: 'of plans' }), bob);

    expect(told.filter((line) => line.startsWith('logins'))).toEqual([
      ...['logins, by ada', 'logins, by bob'],
      'logins, by ada',
    ]);
  });

  it('refuse a name that another has', async () => {
    await using fixture = await world();
    const { policies } = fixture;
    await policies.create(aNewPolicy(), ada);
    const { policy } = await policies.create(aNewPolicy({ name: 'other' }), ada);
    const taken = aNewPolicy({ name: 'No Deletes' });
    expect(await codeOf(policies.create(taken, ada))).toBe('policy-name-taken');
    expect(await codeOf(policies.update(policy.id, taken, ada, anything))).toBe('policy-name-taken');
  });

  it('are attached inside their account only', async () => {
    await using fixture = await world();
    const { policies, stack } = fixture;
    const { policy } = await policies.create(aNewPolicy(), ada);
    for (const [id, key] of [
      [policy.id, 'other'],
      [policy.id, 'nowhere'],
      ['nothing', 'acme'],
    ] as const) {
      expect(await codeOf(policies.attach(id, key))).toBe('not-found');
      expect(await codeOf(policies.detach(id, key))).toBe('not-found');
    }
    expect(await policies.detach(policy.id, 'acme')).toBe(false);
    await policies.attach(policy.id, 'acme');
    await policies.attach(policy.id, 'acme');
    expect(await policies.ofStack(await stack('acme'))).toEqual([{ policy, by: 'attachment' }]);
    expect(await policies.ofStack(await stack('other'))).toEqual([]);
    expect(await policies.detach(policy.id, 'acme')).toBe(true);
  });

  it('cannot be detached from where a label has them', async () => {
    await using fixture = await world();
    const { policies, stack } = fixture;
    const { policy } = await policies.create(aNewPolicy({ labels: ['autoattach:*'] }), ada);
    expect(await policies.ofStack(await stack('acme'))).toEqual([{ policy, by: 'label' }]);
    expect(await codeOf(policies.detach(policy.id, 'acme'))).toBe('policy-attached-by-label');
  });

  it.each([
    ['LOGIN', null, 'every login to this server'],
    ['NOTIFICATION', acme, 'everything that happens in its account'],
  ] as const)('of kind %s are attached to no stack', async (kind: PolicyKind, account, reason) => {
    await using fixture = await world();
    const { policies } = fixture;
    const { policy } = await policies.create(aNewPolicy({ kind, account }), ada);
    const labels = ['autoattach:prod'];
    for (const refused of [
      policies.attach(policy.id, 'acme'),
      policies.create(aNewPolicy({ kind, account, labels, name: 'x' }), ada),
      policies.update(policy.id, aNewPolicy({ labels }), ada, anything),
    ]) {
      await expect(refused).rejects.toMatchObject({
        code: 'policy-not-attachable',
        message: expect.stringContaining(reason),
      });
    }
  });
});
