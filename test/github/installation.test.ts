import { describe, expect, test } from 'vitest';
import type { Repository } from '../../demo/github/state.ts';
import { createReconciler } from '../../src/github/reconcile/installations.ts';
import { createRepositoryDirectory } from '../../src/github/repositories.ts';
import { createRepositoryStore } from '../../src/storage/repository-store.ts';
import { UserError } from '../../src/user-error.ts';
import { startReceiving } from './receiving.ts';
import { eventually, silent, startGithub, tempDatabase } from './support.ts';

type All = Awaited<ReturnType<typeof startReceiving>>;

/** A `repository` event that shows the repository like this, now or from long ago. */
function tellOf(all: All, action: string, shown: Repository) {
  const { id, fullName, defaultBranch, owner } = shown;
  const repository = {
    ...{ id, full_name: fullName, private: shown.private, default_branch: defaultBranch },
    owner: { id: owner.id, login: owner.login },
  };
  const body = Buffer.from(JSON.stringify({ action, repository, installation: { id: all.installation.id } }));
  return all.handle({
    id: 'd',
    event: 'repository',
    body,
    attempt: 1,
    lane: 'x',
    receivedAtMs: all.clock.ms,
  });
}

/** Those that GitHub was asked since the last call. */
function countQuestions(github: All['github']): () => readonly string[] {
  let seen = github.requests.length;
  return () => {
    const fresh = github.requests.slice(seen).map(({ method, path }) => `${method} ${path}`);
    seen = github.requests.length;
    return fresh;
  };
}

describe('events about installations', () => {
  test('an installation brings its account and repositories, with their default branches', async () => {
    await using all = await startReceiving();
    const { github, store } = all;
    github.addAccount({ login: 'globex', type: 'Organization' });
    const repository = await github.addRepository({
      owner: 'globex',
      name: 'net',
      defaultBranch: 'trunk',
      private: false,
    });
    expect(await store.find(repository.id)).toBeNull();

    const installation = await github.installApp('globex');

    await eventually(async () =>
      expect(await store.find(repository.id)).toEqual({
        id: repository.id,
        accountId: repository.owner.id,
        installationId: installation.id,
        fullName: 'globex/net',
        defaultBranch: 'trunk',
        isPrivate: false,
      }),
    );
    expect(await store.findAccount(repository.owner.id)).toEqual({
      id: repository.owner.id,
      login: 'globex',
      installationId: installation.id,
      suspended: false,
    });
  });

  test('repositories come and go with the installation that sees them', async () => {
    await using all = await startReceiving();
    const { github, store } = all;
    const repository = await github.addRepository({ owner: 'acme', name: 'infra' });
    await eventually(async () => expect(await store.find(repository.id)).not.toBeNull());

    await github.setInstalled(repository, false);
    await eventually(async () => expect(await store.find(repository.id)).toBeNull());

    const other = await github.addRepository({ owner: 'acme', name: 'shop' });
    await eventually(async () => expect(await store.find(other.id)).not.toBeNull());
    await github.uninstallApp('acme');
    await eventually(async () => expect(await store.find(other.id)).toBeNull());
    expect(await store.findAccount(other.owner.id)).toMatchObject({ installationId: null });
  });

  test('a suspension is remembered, also when other events come in late', async () => {
    await using all = await startReceiving();
    const { github, store, handle, installation } = all;
    const repository = await github.addRepository({ owner: 'acme', name: 'infra' });
    await eventually(async () => expect(await store.find(repository.id)).not.toBeNull());
    const { account } = installation;
    const tell = (event: string, payload: object) =>
      handle({
        id: event,
        event,
        body: Buffer.from(JSON.stringify(payload)),
        attempt: 1,
        lane: 'x',
        receivedAtMs: all.clock.ms,
      });
    const installationJson = { id: installation.id, account: { id: account.id, login: 'acme' } };

    installation.suspendedAtMs = all.clock.ms;
    const suspended = await tell('installation', { action: 'suspend', installation: installationJson });
    await tell('repository', {
      action: 'renamed',
      installation: { id: installation.id },
      repository: {
        id: repository.id,
        full_name: 'acme/infra-2',
        private: true,
        default_branch: 'main',
        owner: { id: account.id, login: 'acme' },
      },
    });

    expect(suspended).toEqual({ state: 'done', note: 'the installation on acme is suspended' });
    expect(await store.findAccount(account.id)).toMatchObject({ suspended: true });
    // GitHub does not answer about repositories of a suspended installation.
    expect(await store.find(repository.id)).toMatchObject({ fullName: 'acme/infra' });
    installation.suspendedAtMs = null;
    await tell('installation', { action: 'unsuspend', installation: installationJson });
    expect(await store.findAccount(account.id)).toMatchObject({ suspended: false });
  });

  test.each([
    ['renamed', (infra: Repository) => ({ ...infra, name: 'new', fullName: 'acme/new' }), 'fullName'],
    ['edited', (infra: Repository) => ({ ...infra, defaultBranch: 'trunk' }), 'defaultBranch'],
    ['publicized', (infra: Repository) => ({ ...infra, private: false }), 'isPrivate'],
  ] as const)(
    'a repository that was %s is asked for, once, and stored as it is',
    async (action, change, field) => {
      await using all = await startReceiving();
      const { github, store } = all;
      const repository = await github.addRepository({ owner: 'acme', name: 'infra' });
      await eventually(async () => expect(await store.find(repository.id)).not.toBeNull());
      const before = await store.find(repository.id);
      if (action === 'renamed') repository.formerNames.push(repository.fullName);
      Object.assign(repository, change(repository));
      const questions = countQuestions(github);

      const outcome = await tellOf(all, action, repository);

      expect(outcome.state).toBe('done');
      const now = await store.find(repository.id);
      expect(now).toEqual({
        ...before,
        fullName: repository.fullName,
        defaultBranch: repository.defaultBranch,
        isPrivate: repository.private,
      });
      expect(now?.[field]).not.toBe(before?.[field]);
      expect(questions()).toHaveLength(1);
      await tellOf(all, action, repository);
      expect(questions()).toEqual([]);
    },
  );

  test('what a payload says of a repository does not overrule what is the case, whenever it comes', async () => {
    await using all = await startReceiving();
    const { github, store } = all;
    const repository = await github.addRepository({ owner: 'acme', name: 'infra', private: false });
    await eventually(async () => expect(await store.find(repository.id)).toMatchObject({ isPrivate: false }));
    const truth = await store.find(repository.id);

    // From before it was renamed and made public: checks on it would show what only insiders may see.
    const old = { ...repository, fullName: 'acme/old-name', private: true, defaultBranch: 'trunk' };
    const outcome = await tellOf(all, 'edited', old);

    expect(outcome.state).toBe('done');
    expect(await store.find(repository.id)).toEqual(truth);
  });

  test('is tried again when GitHub does not answer what it asks, and believes nothing meanwhile', async () => {
    await using all = await startReceiving();
    const { github, store } = all;
    const repository = await github.addRepository({ owner: 'acme', name: 'infra' });
    await eventually(async () => expect(await store.find(repository.id)).not.toBeNull());
    github.failNext({ pathPattern: /^\/repos\/acme\/infra$/, status: 503 });

    const failure = tellOf(all, 'edited', { ...repository, defaultBranch: 'trunk' });

    await expect(failure).rejects.toMatchObject({ code: 'github-unavailable' });
    expect(await store.find(repository.id)).toMatchObject({ defaultBranch: 'main' });
  });

  test('an account that was renamed is asked for with its repository', async () => {
    await using all = await startReceiving();
    const { github, store } = all;
    const repository = await github.addRepository({ owner: 'acme', name: 'infra' });
    await eventually(async () => expect(await store.find(repository.id)).not.toBeNull());

    await tellOf(all, 'edited', { ...repository, owner: { ...repository.owner, login: 'acme-of-old' } });

    expect(await store.findAccount(repository.owner.id)).toMatchObject({ login: 'acme', suspended: false });
  });

  test.each(['the App left the account', 'the repository was taken out'])(
    'a late event does not bring a repository back after %s',
    async (what) => {
      await using all = await startReceiving();
      const { github, store, pushes, inboxStore } = all;
      const repository = await github.addRepository({ owner: 'acme', name: 'infra', files: { a: '1' } });
      const commit = { branch: 'main', message: 'Two', files: { a: '2' } };
      const sent = await github.commitAndPush(repository, commit);
      await eventually(() => expect(pushes).toHaveLength(1));
      if (what.startsWith('the App')) await github.uninstallApp('acme');
      else await github.setInstalled(repository, false);
      await eventually(async () => expect(await store.find(repository.id)).toBeNull());

      await all.database.write((tx) => inboxStore.reopen(tx, sent.deliveryId, all.clock.ms));
      all.worker.wake();

      await eventually(async () =>
        expect(await inboxStore.find(sent.deliveryId)).toMatchObject({
          state: 'ignored',
          note: 'the App does not see acme/infra any more',
        }),
      );
      expect(await store.find(repository.id)).toBeNull();
      expect(pushes).toHaveLength(1);
    },
  );
});

describe('reconciling', () => {
  async function open() {
    const started = await startGithub();
    const temp = await tempDatabase();
    const { database } = temp;
    const store = createRepositoryStore(database);
    const seen: number[] = [];
    const { budget, clock } = started;
    const reconcilerOf = (app: Parameters<typeof createReconciler>[0]['app']) =>
      createReconciler({
        ...{ app, store, transactions: database, budget, clock, logger: silent },
        onSeen: (ids) => void seen.push(...ids),
      });
    const reconciler = reconcilerOf(started.app);
    return {
      ...started,
      reconcilerOf,
      /** Since it was asked last. */
      newlySeen: () => seen.splice(0),
      store,
      database,
      reconciler,
      async [Symbol.asyncDispose]() {
        await started[Symbol.asyncDispose]();
        await temp[Symbol.asyncDispose]();
      },
    };
  }

  test('finds what no event told, and forgets what is gone', async () => {
    await using all = await open();
    const { github, store, reconciler } = all;
    const infra = await github.addRepository({ owner: 'acme', name: 'infra' });
    const shop = await github.addRepository({ owner: 'acme', name: 'shop' });
    github.addAccount({ login: 'globex', type: 'Organization' });
    const net = await github.addRepository({ owner: 'globex', name: 'net' });
    await github.installApp('globex');

    expect(await reconciler.all()).toEqual({ isComplete: true, waitMs: 0 });
    const found = [await store.find(infra.id), await store.find(shop.id), await store.find(net.id)];
    expect(found.map((each) => each?.fullName)).toEqual(['acme/infra', 'acme/shop', 'globex/net']);

    await github.setInstalled(shop, false);
    await github.uninstallApp('globex');
    expect(await reconciler.all()).toEqual({ isComplete: true, waitMs: 0 });
    expect(await store.find(infra.id)).not.toBeNull();
    expect([await store.find(shop.id), await store.find(net.id)]).toEqual([null, null]);
    expect(await store.findAccount(net.owner.id)).toMatchObject({ installationId: null });
  });

  test('leaves alone what was told of while GitHub was asked', async () => {
    await using all = await open();
    const { github, store, database } = all;
    const infra = await github.addRepository({ owner: 'acme', name: 'infra' });
    await all.reconciler.all();
    const known = await store.find(infra.id);
    if (!known) throw new Error('the repository was not stored');
    const [added, other] = [{ ...known, id: 9001, fullName: 'acme/added' }, 9002];
    const globex = { id: 9003, login: 'globex', installationId: other, suspended: false };
    const asApp = async () => {
      const octokit = await all.app.asApp();
      octokit.hook.after('request', () => database.write((tx) => store.saveAccount(tx, globex)));
      return octokit;
    };
    const asInstallation = async (id: number) => {
      const octokit = await all.app.asInstallation(id);
      octokit.hook.after('request', () => database.write((tx) => store.saveRepository(tx, added)));
      return octokit;
    };

    await all.reconcilerOf({ asApp, asInstallation }).all();

    expect(await store.find(added.id)).not.toBeNull();
    expect(await store.installationIds()).toContain(other);
  });

  test('reads every page of the list', async () => {
    await using all = await open();
    const { github, store, reconciler, installation } = all;
    for (let index = 0; index < 101; index += 1) {
      await github.addRepository({ owner: 'acme', name: `r${index}` });
    }

    expect(await reconciler.all()).toEqual({ isComplete: true, waitMs: 0 });

    expect(await store.repositoryIds(installation.id)).toHaveLength(101);
  });

  test('names the repositories whose files want to be looked at', async () => {
    await using all = await open();
    const { github, reconciler, installation, newlySeen, store, database, clock } = all;
    const infra = await github.addRepository({ owner: 'acme', name: 'infra' });
    await reconciler.installation(installation.id);
    expect(newlySeen()).toEqual([infra.id]);

    const shop = await github.addRepository({ owner: 'acme', name: 'shop' });
    await reconciler.installation(installation.id);
    expect(newlySeen()).toEqual([shop.id]);

    // All of them once a day, however often everything is asked for.
    await reconciler.all();
    expect(newlySeen()).toEqual([infra.id, shop.id]);
    await reconciler.all();
    expect(newlySeen()).toEqual([]);
    await github.commit(shop, { branch: 'trunk', message: 'Another branch', files: { a: '1' } });
    shop.defaultBranch = 'trunk';
    await reconciler.all();
    expect(newlySeen()).toEqual([shop.id]);
    clock.ms += 24 * 60 * 60_000;
    await reconciler.all();
    expect(newlySeen()).toEqual([infra.id, shop.id]);

    // No events come while it is suspended.
    const account = await store.findAccount(infra.owner.id);
    if (!account) throw new Error('no account');
    await database.write((tx) => store.saveAccount(tx, { ...account, suspended: true }));
    await reconciler.installation(installation.id);
    expect(newlySeen()).toEqual([infra.id, shop.id]);
  });

  test('with a GitHub that fails says so, and keeps what it knew', async () => {
    await using all = await open();
    const { github, store, reconciler } = all;
    const infra = await github.addRepository({ owner: 'acme', name: 'infra' });
    await reconciler.all();

    const headers = { 'retry-after': '90' };
    github.failNext({ pathPattern: /^\/app\/installations$/, status: 429, headers });
    expect(await reconciler.all()).toEqual({ isComplete: false, waitMs: 90_000 });
    github.failNext({ pathPattern: /^\/app\/installations$/, status: 502 });
    expect(await reconciler.all()).toEqual({ isComplete: false, waitMs: 0 });
    github.failNext({ pathPattern: /^\/installation\/repositories$/, status: 500 });
    expect(await reconciler.all()).toEqual({ isComplete: false, waitMs: 0 });

    expect(await store.find(infra.id)).not.toBeNull();
    expect(await reconciler.all()).toEqual({ isComplete: true, waitMs: 0 });
  });
});

describe('looking a repository up', () => {
  test('gives the account and the repository where the App is installed', async () => {
    await using started = await startGithub();
    const { github, app, installation } = started;
    const infra = await github.addRepository({ owner: 'acme', name: 'infra', defaultBranch: 'trunk' });

    expect(await createRepositoryDirectory(app).lookUp('Acme/Infra')).toEqual({
      account: { id: infra.owner.id, login: 'acme', installationId: installation.id, suspended: false },
      repository: {
        id: infra.id,
        accountId: infra.owner.id,
        installationId: installation.id,
        fullName: 'acme/infra',
        defaultBranch: 'trunk',
        isPrivate: true,
      },
    });
  });

  test.each(['acme/unknown', 'ada/dotfiles', 'acme', 'acme/..', '../app', 'acme/infra/pulls', 'a b/c', ''])(
    'finds nothing for "%s"',
    async (fullName) => {
      await using started = await startGithub();
      const { github, app } = started;
      await github.addRepository({ owner: 'acme', name: 'infra' });
      await github.addRepository({ owner: 'ada', name: 'dotfiles', private: false });

      expect(await createRepositoryDirectory(app).lookUp(fullName)).toBeNull();
    },
  );

  test('says so when GitHub does not answer', async () => {
    await using started = await startGithub();
    started.github.failNext({ pathPattern: /^\/repos\/acme\/infra\/installation$/, status: 503 });

    const error = await createRepositoryDirectory(started.app)
      .lookUp('acme/infra')
      .catch((thrown) => thrown);

    expect(error).toBeInstanceOf(UserError);
    expect(error).toMatchObject({ code: 'github-unavailable' });
  });
});
