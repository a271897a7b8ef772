import { describe, expect, it } from 'vitest';
import { anAccount, aRepository, person } from '../support/builders.ts';
import { anInstallation, apiRequest, call, otherAccount } from './installation.ts';

const path = '/api/v1/accounts';
const adasAccount = anAccount({ id: 5, login: 'ada', installationId: 103, suspended: true });
const ada = { ...person('ada'), userId: 5 };

interface Page {
  readonly items: readonly { readonly account: string; readonly state: string }[];
  readonly nextCursor: string | null;
}

/** acme with a repository and installed, globex with one and removed, ada's own suspended. */
async function opened() {
  const installation = anInstallation();
  const { database, repositories } = installation;
  await database.write(async (tx) => {
    for (const account of [anAccount(), otherAccount, adasAccount])
      await repositories.saveAccount(tx, account);
    await repositories.saveRepository(tx, aRepository());
    const elsewhere = { id: 22, accountId: 12, installationId: 102, fullName: 'globex/infra' };
    await repositories.saveRepository(tx, aRepository(elsewhere));
    await repositories.forgetInstallation(tx, 102);
  });
  async function as(actor: typeof ada | ReturnType<typeof person>, query = ''): Promise<Page> {
    const answer = await installation.web.fetchAs(actor, apiRequest('GET', `${path}${query}`));
    return (await answer.json()) as Page;
  }
  return { installation, as, [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose]() };
}

const names = ({ items }: Page) => items.map(({ account }) => account).sort();

describe('the accounts of the API', () => {
  it('are for a person their own and those that have something for them', async () => {
    await using world = await opened();
    expect(names(await world.as(ada))).toEqual(['ada']);
    expect(names(await world.as(person('ada')))).toEqual([]);

    world.installation.roles.set('ada acme/infra', 'reader');
    world.installation.roles.set('ada globex/infra', 'admin');

    expect(names(await world.as(ada))).toEqual(['acme', 'ada']);
    expect(names(await world.as(person('stranger')))).toEqual([]);
  });

  it('say how it is with the App there', async () => {
    await using world = await opened();

    expect(await world.as(person('root-ada'))).toEqual({
      items: [
        { id: 5, account: 'ada', state: 'suspended', installationId: 103 },
        {
          id: anAccount().id,
          account: 'acme',
          state: 'installed',
          installationId: anAccount().installationId,
        },
        { id: 12, account: 'globex', state: 'removed', installationId: null },
      ],
      nextCursor: null,
    });
  });

  it.each([
    ['acme', ['acme']],
    [null, ['acme', 'ada', 'globex']],
  ])('are for a token of %s %j', async (account, expected) => {
    await using world = await opened();
    const token = await world.installation.token('reader', account);

    expect(names((await call(world.installation, 'GET', path, { token })).body)).toEqual(expected);
  });

  it('come in pages', async () => {
    await using world = await opened();
    world.installation.roles.set('ada', 'reader');

    const first = await world.as(ada, '?limit=1');
    const second = await world.as(ada, `?limit=9&cursor=${first.nextCursor}`);

    expect([names(first), first.nextCursor]).toEqual([['ada'], expect.any(String)]);
    expect([names(second), second.nextCursor]).toEqual([['acme'], null]);
  });

  it('ask GitHub about so many repositories for an answer, and the next answer goes on there', async () => {
    await using world = await opened();
    const { database, repositories, roles } = world.installation;
    await database.write(async (tx) => {
      for (let n = 0; n < 150; n += 1) {
        await repositories.saveRepository(tx, aRepository({ id: 1000 + n, fullName: `acme/r${n}` }));
      }
    });
    roles.set('ada acme/r149', 'reader');

    const first = await world.as(ada);
    const second = await world.as(ada, `?cursor=${first.nextCursor}`);

    expect([names(first), first.nextCursor]).toEqual([['ada'], expect.any(String)]);
    expect([names(second), second.nextCursor]).toEqual([['acme'], null]);
  });
});

describe('the App of the API', () => {
  it.each([
    ['https://github.example/apps/x', 'https://github.example/apps/x/installations/new'],
    [null, null],
  ])('at %s is installed at %s', async (url, installUrl) => {
    await using installation = anInstallation({ appPage: async () => url });
    const token = await installation.token('reader', 'acme');

    expect((await call(installation, 'GET', '/api/v1/app', { token })).body).toEqual({ url, installUrl });
  });
});

describe('the sessions of the API', () => {
  it('are those of the person, and each can be ended by nobody else', async () => {
    await using installation = anInstallation();
    const { web } = installation;
    const browser = { before: null, origin: { via: 'ui', address: null, forwardedFor: null } } as const;
    await installation.logIn({ ...ada, email: '' }, { ...browser, userAgent: 'one' });
    const other = { userId: 6, login: 'grace', email: '' };
    await installation.logIn(other, { ...browser, userAgent: 'of grace' });
    const list = async () => {
      const answer = await web.fetchAs(ada, apiRequest('GET', '/api/v1/sessions'));
      return ((await answer.json()) as { items: { id: string; userAgent: string }[] }).items;
    };
    const [one] = await list();
    const end = async (actor: Parameters<typeof web.fetchAs>[0]) =>
      (await web.fetchAs(actor, apiRequest('DELETE', `/api/v1/sessions/${one?.id}`))).status;

    expect(one).toMatchObject({ userAgent: 'one', createdAt: expect.any(Number) });
    expect(await end({ kind: 'person', ...other })).toBe(404);
    expect(await end({ kind: 'operator' })).toBe(403);
    expect(await end(ada)).toBe(204);
    expect(await list()).toEqual([]);
    expect(await end(ada)).toBe(404);
  });
});
