import { describe, expect, it } from 'vitest';
import { anAccount, aRepository, person } from '../support/builders.ts';
import { anInstallation, apiRequest, call, otherAccount } from './installation.ts';

const path = '/api/v1/repositories';

/** Three repositories of two accounts, known by what GitHub told. */
async function opened() {
  const installation = anInstallation();
  const { database, repositories } = installation;
  await database.write(async (tx) => {
    await repositories.saveAccount(tx, anAccount());
    await repositories.saveAccount(tx, otherAccount);
    await repositories.saveRepository(tx, aRepository());
    await repositories.saveRepository(tx, aRepository({ id: 23, fullName: 'acme/shop', isArchived: true }));
    const elsewhere = { id: 22, accountId: 12, installationId: 102, fullName: 'globex/infra' };
    await repositories.saveRepository(tx, aRepository({ ...elsewhere, isPrivate: false }));
  });
  async function as(login: string, query = '') {
    const answer = await installation.web.fetchAs(person(login), apiRequest('GET', `${path}${query}`));
    return (await answer.json()) as { items: { repository: string }[]; nextCursor: string | null };
  }
  return { installation, as, [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose]() };
}

const names = ({ items }: { items: { repository: string }[] }) => items.map(({ repository }) => repository);

describe('the repositories of the API', () => {
  it('are those that the caller administers, live', async () => {
    await using world = await opened();
    const { roles } = world.installation;
    roles.set('ada acme/infra', 'admin');
    roles.set('ada acme/shop', 'writer');

    expect(names(await world.as('ada'))).toEqual(['acme/infra']);
    roles.set('ada globex/infra', 'admin');
    expect(names(await world.as('ada'))).toEqual(['acme/infra', 'globex/infra']);
    expect(names(await world.as('stranger'))).toEqual([]);
    expect(names(await world.as('root-ada'))).toEqual(['acme/infra', 'globex/infra', 'acme/shop']);
  });

  it.each([
    ['an admin token', 'admin', null, ['acme/infra', 'globex/infra', 'acme/shop']],
    ['an admin token of an account', 'admin', 'acme', ['acme/infra', 'acme/shop']],
    ['a writer token', 'writer', null, []],
  ] as const)('of %s are those of its account, if it administers', async (_, role, account, expected) => {
    await using world = await opened();
    const token = await world.installation.token(role, account);

    expect(names((await call(world.installation, 'GET', path, { token })).body)).toEqual(expected);
  });

  it('say what they are', async () => {
    await using world = await opened();

    expect((await world.as('root-ada')).items.slice(1)).toEqual([
      {
        ...{ account: 'globex', repository: 'globex/infra', defaultBranch: 'main' },
        ...{ private: false, archived: false, role: 'admin' },
      },
      {
        ...{ account: 'acme', repository: 'acme/shop', defaultBranch: 'main' },
        ...{ private: true, archived: true, role: 'admin' },
      },
    ]);
  });

  it('are those of a lesser role or of one account, when asked so', async () => {
    await using world = await opened();
    const { roles } = world.installation;
    roles.set('ada acme/infra', 'reader').set('ada acme/shop', 'writer').set('ada globex/infra', 'admin');

    expect(names(await world.as('ada', '?role=reader'))).toEqual(['acme/infra', 'globex/infra', 'acme/shop']);
    expect(names(await world.as('ada', '?role=writer'))).toEqual(['globex/infra', 'acme/shop']);
    expect(names(await world.as('ada', '?role=reader&account=ACME'))).toEqual(['acme/infra', 'acme/shop']);
    const token = await world.installation.token('reader', 'globex');
    const other = await call(world.installation, 'GET', `${path}?role=reader&account=acme`, { token });
    expect(names(other.body)).toEqual([]);
  });

  it('come in pages, which may be empty before the end', async () => {
    await using world = await opened();
    world.installation.roles.set('ada acme/shop', 'admin');

    const first = await world.as('ada', '?limit=2');
    const second = await world.as('ada', `?limit=2&cursor=${first.nextCursor}`);

    expect([names(first), first.nextCursor]).toEqual([[], expect.any(String)]);
    expect([names(second), second.nextCursor]).toEqual([['acme/shop'], null]);
  });
});

it('tells no stranger by a new stack where the App is installed', async () => {
  await using installation = anInstallation();
  const refusal = async (repository: string) => {
    const vendor = { pulumi: { loginUrl: 'file:///state', stackName: 'dev' } };
    const request = apiRequest('POST', '/api/v1/stacks', { body: { name: 'Mine', repository, vendor } });
    const answer = await installation.web.fetchAs(person('stranger'), request);
    return { status: answer.status, text: await answer.text() };
  };

  const installed = await refusal('acme/infra');

  expect(installed.status).toBe(404);
  expect(await refusal('acme/none')).toEqual(installed);
});

describe('the vendors of the API', () => {
  it('say what they want to know of a stack, and take their own examples', async () => {
    await using installation = anInstallation();
    const token = await installation.token('admin');

    const { body } = await call(installation, 'GET', '/api/v1/vendors', { token });

    type Field = { name: string; example: string; optional: boolean };
    type Item = { name: string; installed: boolean; fields: Field[] };
    const items: Item[] = body.items;
    expect(items.map(({ name, installed }) => [name, installed])).toEqual([
      ...[
        ['pulumi', true],
        ['terraform', true],
      ],
      ['opentofu', false],
    ]);
    const settingsOf = (fields: Field[]) =>
      Object.fromEntries(fields.map((field) => [field.name, field.example]));
    for (const { name, fields } of items) {
      const needed = fields.filter(({ optional }) => !optional);
      // Some exclude each other.
      const possible = [needed, ...fields.filter(({ optional }) => optional).map((one) => [...needed, one])];
      for (const [index, some] of possible.entries()) {
        const stack = {
          name: `${name} ${index}`,
          repository: 'acme/infra',
          vendor: { [name]: settingsOf(some) },
        };
        const made = await call(installation, 'POST', '/api/v1/stacks', { token, body: stack });
        expect([made.status, made.body.vendor]).toEqual([201, stack.vendor]);
      }
    }
  });
});
