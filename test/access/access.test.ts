import { describe, expect, it } from 'vitest';
import {
  type Actor,
  actorKey,
  actorName,
  type GrantedRole,
  type Grants,
  type Role,
  roles,
  triggerName,
} from '../../src/access/actor.ts';
import type { RepositoryRef } from '../../src/access/permissions.ts';
import { createAccess, includesRole } from '../../src/access/roles.ts';
import { createTokens } from '../../src/access/tokens.ts';
import { createIds } from '../../src/ids.ts';
import { createTokenStore } from '../../src/storage/token-store.ts';
import { manualClock } from '../support/manual-clock.ts';
import { tempDatabase } from '../support/temp-database.ts';

const repository: RepositoryRef = { id: 21, fullName: 'acme/infra', installationId: 101, isPrivate: true };
const person = (login: string): Actor => ({ kind: 'person', login, email: `${login}@example.com` });
const token = (role: Role, account: string | null = null): Actor => ({
  ...{ kind: 'token', id: 't1', name: 'ci', role, account },
});
const operator: Actor = { kind: 'operator' };
/** Somebody in a session to which login policies gave something. */
const granted = (login: string, grants: Partial<Grants>): Actor => ({
  ...{ kind: 'person', login, email: `${login}@example.com` },
  session: { id: 's1', grants: { admin: false, roles: [], policies: ['who gets in'], ...grants } },
});

/** Access as GitHub says, with what GitHub was asked. */
function access(github: Readonly<Record<string, Role>> = {}) {
  const asked: [login: string, fresh: boolean][] = [];
  const made = createAccess({
    admins: ['Root-Ada'],
    permissions: {
      roleOf: async ({ login }, _, fresh) => {
        asked.push([login, fresh]);
        return github[login] ?? null;
      },
    },
  });
  const may = (actor: Actor, needed: Role, account = 'acme') =>
    made.require(actor, { account, repository }, needed).then(
      (role) => role ?? 'unknown to them',
      (error: { code: string }) => error.code,
    );
  return { ...made, asked, may };
}

describe('who may do what', () => {
  it.each<[held: Role, needed: Role, includes: boolean]>(
    roles.flatMap((held, at) =>
      roles.map((needed, than) => [held, needed, at >= than] as [Role, Role, boolean]),
    ),
  )('%s includes %s: %s', (held, needed, includes) => {
    expect(includesRole(held, needed)).toBe(includes);
  });

  it.each<[string, Actor, answers: [reader: string, writer: string, admin: string]]>([
    ['somebody without a role', person('eve'), ['unknown to them', 'unknown to them', 'unknown to them']],
    ['a reader', person('rob'), ['reader', 'forbidden', 'forbidden']],
    ['a writer', person('wim'), ['writer', 'writer', 'forbidden']],
    ['an admin of the repository', person('ann'), ['admin', 'admin', 'admin']],
    ['an admin of the instance', person('root-ADA'), ['admin', 'admin', 'admin']],
    ['a reading token', token('reader'), ['reader', 'forbidden', 'forbidden']],
    ['a writing token of the account', token('writer', 'ACME'), ['writer', 'writer', 'forbidden']],
    ['an admin token of the account', token('admin', 'acme'), ['admin', 'admin', 'admin']],
    [
      'an admin token of another',
      token('admin', 'globex'),
      ['unknown to them', 'unknown to them', 'unknown to them'],
    ],
    ['an admin token', token('admin'), ['admin', 'admin', 'admin']],
    ['the operator', operator, ['admin', 'admin', 'admin']],
  ])('%s', async (_, actor, answers) => {
    const { may } = access({ rob: 'reader', wim: 'writer', ann: 'admin' });
    expect([await may(actor, 'reader'), await may(actor, 'writer'), await may(actor, 'admin')]).toEqual(
      answers,
    );
  });

  it.each<[string, Actor, boolean]>([
    ['a person who is listed', person('root-ada'), true],
    ['an admin of a repository', person('ann'), false],
    ['an admin token', token('admin'), true],
    ['an admin token of one account', token('admin', 'acme'), false],
    ['a writing token', token('writer'), false],
    ['the operator', operator, true],
  ])('%s administers the instance: %s', (_, actor, expected) => {
    expect(access({ ann: 'admin' }).isInstanceAdmin(actor)).toBe(expected);
  });

  it.each<[string, Actor, boolean]>([
    ['a person who is listed', person('root-ada'), true],
    ['an admin of a repository', person('ann'), false],
    ['a reading token', token('reader'), true],
    ['an admin token', token('admin'), true],
    ['an admin token of one account', token('admin', 'acme'), false],
    ['the operator', operator, true],
  ])('%s sees the whole instance: %s', (_, actor, expected) => {
    expect(access({ ann: 'admin' }).seesInstance(actor)).toBe(expected);
  });

  it('is asked of GitHub afresh for everything that changes something', async () => {
    const { may, asked } = access({ ann: 'admin' });
    await may(person('ann'), 'reader');
    await may(person('ann'), 'writer');
    await may(person('ann'), 'admin');
    await may(operator, 'admin');

    expect(asked).toEqual([
      ['ann', false],
      ['ann', true],
      ['ann', true],
    ]);
  });

  const ofAccount = (role: Role, account = 'acme'): GrantedRole => ({ account, stack: null, role });
  const ofStack = (role: Role, stack: string, account = 'acme'): GrantedRole => ({ account, stack, role });

  it.each<[string, login: string, GrantedRole[], onStack: Role | null, onRepository: Role | null]>([
    ['nothing', 'eve', [], null, null],
    ['a role in the account', 'eve', [ofAccount('writer')], 'writer', 'writer'],
    ['a role in another account', 'eve', [ofAccount('admin', 'globex')], null, null],
    ['a role on the stack', 'eve', [ofStack('writer', 'net')], 'writer', null],
    ['a role on another stack', 'eve', [ofStack('admin', 'dns')], null, null],
    ['a role on a stack of that name elsewhere', 'eve', [ofStack('admin', 'net', 'globex')], null, null],
    ['a higher role on the stack', 'eve', [ofAccount('reader'), ofStack('admin', 'net')], 'admin', 'reader'],
    ['a lower role on the stack', 'eve', [ofAccount('writer'), ofStack('reader', 'net')], 'writer', 'writer'],
    ['more than GitHub', 'rob', [ofAccount('writer')], 'writer', 'writer'],
    ['less than GitHub', 'ann', [ofAccount('reader')], 'admin', 'admin'],
    ['less than GitHub on the stack', 'wim', [ofStack('reader', 'net')], 'writer', 'writer'],
  ])(
    'is with %s in the session of %s: %j on the stack %s, elsewhere %s',
    async (_, login, roles, ...expected) => {
      const made = access({ rob: 'reader', wim: 'writer', ann: 'admin' });
      const actor = granted(login, { roles });
      const on = (place: object) => made.roleOf(actor, { account: 'Acme', repository, ...place });

      expect([await on({ id: 'net' }), await on({})]).toEqual(expected);
      expect([made.isInstanceAdmin(actor), made.seesInstance(actor)]).toEqual([false, false]);
    },
  );

  it('is everything in a session that a login policy gave it', async () => {
    const { may, isInstanceAdmin, seesInstance, asked } = access();
    const eve = granted('eve', { admin: true });

    expect([isInstanceAdmin(eve), seesInstance(eve), await may(eve, 'admin', 'globex')]).toEqual([
      ...[true, true],
      'admin',
    ]);
    expect(asked).toEqual([]);
    expect([isInstanceAdmin(person('eve')), await may(person('eve'), 'reader')]).toEqual([
      false,
      'unknown to them',
    ]);
  });

  it('is refused for what a given role does not include', async () => {
    const { may } = access({ rob: 'reader' });
    const rob = granted('rob', { roles: [ofAccount('writer')] });

    expect([await may(rob, 'writer'), await may(rob, 'admin'), await may(rob, 'reader', 'globex')]).toEqual([
      ...['writer', 'forbidden'],
      'reader',
    ]);
  });

  it('is nothing for a person when the list of admins is empty', () => {
    const none = createAccess({ admins: [], permissions: { roleOf: async () => null } });
    expect(none.isInstanceAdmin(person(''))).toBe(false);
  });
});

it('names actors in states by login or name, and in runs by e-mail address', () => {
  const actors = [person('ada'), token('writer'), operator];
  expect(actors.map(actorName)).toEqual(['ada', 'ci', 'operator']);
  expect(actors.map(triggerName)).toEqual(['ada@example.com', 'ci', 'operator']);
});

it('takes no policy for a person, whatever it is called', () => {
  const policy = { kind: 'policy', id: '01JPOLICY', name: 'ada@example.com' } as const;
  expect([actorName(policy), triggerName(policy)]).toEqual(Array(2).fill('policy ada@example.com'));
  expect(actorKey(policy)).toBe('policy:01JPOLICY');
});

describe('a token', () => {
  function opened() {
    const temp = tempDatabase();
    const clock = manualClock();
    const store = createTokenStore(temp.database);
    const tokens = createTokens({ store, transactions: temp.database, clock, newId: createIds(clock) });
    return { temp, store, tokens, clock, [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose]() };
  }
  const wanted = { name: 'ci', role: 'writer', account: 'acme' } as const;

  it('is recognised, and stands for what it was made for', async () => {
    await using world = opened();
    const { token: value, id } = await world.tokens.create(wanted, operator);

    expect(value).toMatch(/^slipway_[A-Za-z0-9_-]{43}$/);
    expect(await world.tokens.authenticate(value)).toEqual({ kind: 'token', id, ...wanted });
  });

  it('is new each time, and lies nowhere in the database', async () => {
    await using world = opened();
    const [one, two] = [
      await world.tokens.create(wanted, operator),
      await world.tokens.create(wanted, operator),
    ];

    expect(one.token).not.toBe(two.token);
    const disk = world.temp.atRest();
    expect(disk.includes(one.id)).toBe(true);
    expect(disk.includes(one.token)).toBe(false);
    expect(disk.includes(one.token.slice('slipway_'.length))).toBe(false);
  });

  it.each(['', 'slipway_', 'slipway_unknown', 'unknown'])('%j is none', async (value) => {
    await using world = opened();
    await world.tokens.create(wanted, operator);
    expect(await world.tokens.authenticate(value)).toBeNull();
  });

  it('is exact to the last character', async () => {
    await using world = opened();
    const { token: value } = await world.tokens.create(wanted, operator);
    for (const wrong of [value.slice(0, -1), `${value}x`, value.toUpperCase(), ` ${value}`, value.slice(8)]) {
      expect(await world.tokens.authenticate(wrong)).toBeNull();
    }
  });

  it('is worthless once it was removed', async () => {
    await using world = opened();
    const { token: value, id } = await world.tokens.create(wanted, operator);
    await world.temp.database.write((tx) => world.store.remove(tx, id));
    expect(await world.tokens.authenticate(value)).toBeNull();
  });

  it('is worth nothing from its expiry on', async () => {
    await using world = opened();
    const expiresAtMs = world.clock.nowMs() + 1000;
    const { token: value } = await world.tokens.create({ ...wanted, expiresAtMs }, operator);

    world.clock.advance(999);
    expect(await world.tokens.authenticate(value)).toMatchObject({ kind: 'token' });
    world.clock.advance(1);
    expect(await world.tokens.authenticate(value)).toBe('expired');
    await expect(world.tokens.create({ ...wanted, expiresAtMs }, operator)).rejects.toMatchObject({
      code: 'invalid-input',
    });
  });

  it('remembers its last use, and not with a write for each', async () => {
    await using world = opened();
    const { token: value } = await world.tokens.create(wanted, person('Ada'));
    const used = async () => {
      await world.tokens.authenticate(value);
      return (await world.tokens.list({ after: null, limit: 1 }))[0];
    };
    const startMs = world.clock.nowMs();

    expect(await used()).toMatchObject({ createdBy: 'Ada', lastUsedAtMs: startMs });
    world.clock.advance(299_999);
    expect(await used()).toMatchObject({ lastUsedAtMs: startMs });
    world.clock.advance(1);
    expect(await used()).toMatchObject({ lastUsedAtMs: startMs + 300_000 });
  });
});
