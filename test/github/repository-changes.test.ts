import { describe, expect, test } from 'vitest';
import { stackSettings } from '../support/builders.ts';
import { startReceiving } from './receiving.ts';
import { eventually } from './support.ts';

/** acme/infra with a stack, and globex, which has the App too. */
async function open() {
  const all = await startReceiving();
  const { github, database, stacks, store } = all;
  const globex = github.addAccount({ login: 'globex', type: 'Organization' });
  const other = await github.installApp('globex');
  const infra = await github.addRepository({ owner: 'acme', name: 'infra', files: { a: '0' } });
  await eventually(async () => expect(await store.find(infra.id)).not.toBeNull());
  const stack = { key: 'stack-1', id: 'network', accountId: infra.owner.id, repositoryId: infra.id };
  await database.write((tx) => stacks.insert(tx, { ...stack, settings: stackSettings(), createdAtMs: 0 }));
  return {
    ...all,
    ...{ infra, globex, other },
    stack: () => stacks.findByKey('stack-1'),
    /** When what GitHub has told is handled, whatever came of it. */
    handled: () =>
      eventually(async () =>
        expect(await all.inboxStore.standing()).toMatchObject({ pending: 0, failed: 0 }),
      ),
    /** A push that is told, and whether it got as far as to the stacks. */
    async push() {
      const before = all.pushes.length;
      const commit = { branch: 'main', message: 'Next', files: { a: `${before}` } };
      const { status } = await github.commitAndPush(infra, commit);
      if (status === 202) await eventually(() => expect(all.pushes).toHaveLength(before + 1));
      return status;
    },
  };
}

describe('what happens to a repository', () => {
  test('renamed: its stacks are the same, and it is asked by its new name', async () => {
    await using all = await open();
    await all.github.renameRepository(all.infra, 'platform');
    await all.handled();

    expect(await all.stack()).toMatchObject({ id: 'network', repository: { fullName: 'acme/platform' } });
    expect(await all.push()).toBe(202);
  });

  test('archived, and not any more: told, or found out', async () => {
    await using all = await open();
    await all.github.archiveRepository(all.infra, true);
    await all.handled();
    expect(await all.stack()).toMatchObject({ away: 'archived' });
    await all.github.archiveRepository(all.infra, false);
    await all.handled();
    expect((await all.stack())?.away).toBeUndefined();

    all.infra.archived = true;
    await all.reconciler.all();
    expect(await all.stack()).toMatchObject({ away: 'archived' });
    all.infra.archived = false;
    await all.reconciler.all();
    expect((await all.stack())?.away).toBeUndefined();
  });

  test.each([true, false])('made private or public (private: %s)', async (isPrivate) => {
    await using all = await open();
    await all.github.setPrivate(all.infra, !isPrivate);
    await all.github.setPrivate(all.infra, isPrivate);
    await all.handled();
    expect(await all.stack()).toMatchObject({ repository: { isPrivate } });

    all.infra.private = !isPrivate;
    await all.reconciler.all();
    expect(await all.stack()).toMatchObject({ repository: { isPrivate: !isPrivate } });
  });

  test.each(['told', 'found out'])('transferred to an account with the App: %s', async (how) => {
    await using all = await open();
    const { github, infra, globex, other } = all;
    if (how === 'found out') github.setWebhook(null);
    await github.transferRepository(infra, 'globex');
    if (how === 'found out') await all.reconciler.all();
    await all.handled();
    github.setWebhook(all.webhook);

    const moved = await all.stack();
    expect(moved).toMatchObject({
      account: 'globex',
      id: 'network',
      repository: { id: infra.id, fullName: 'globex/infra', accountId: globex.id, installationId: other.id },
    });
    expect(moved?.away).toBeUndefined();
    expect(await all.push()).toBe(202);
    // Whatever the former account says later.
    await all.reconciler.installation(all.installation.id);
    expect((await all.stack())?.away).toBeUndefined();
  });

  test('transferred to an account without the App, and back: nothing is told, it goes on after that', async () => {
    await using all = await open();
    const { github, infra } = all;
    expect(await github.transferRepository(infra, 'ada')).toEqual({ deliveryId: '', status: 0 });
    await all.reconciler.all();
    expect(await all.stack()).toMatchObject({ account: 'acme', away: 'removed' });
    expect(await all.push()).toBe(0);

    await github.transferRepository(infra, 'acme');
    await all.handled();

    expect((await all.stack())?.away).toBeUndefined();
    expect(await all.push()).toBe(202);
  });
});

describe('what happens to an account', () => {
  test('renamed: its stacks go by its new name, and so do their repositories', async () => {
    await using all = await open();
    await all.github.renameAccount('acme', 'acme-inc');
    await all.handled();

    expect(await all.stack()).toMatchObject({
      account: 'acme-inc',
      repository: { fullName: 'acme-inc/infra' },
    });
    expect(await all.push()).toBe(202);
  });

  test('renamed, and its name taken by another one: the stacks stay with their owner', async () => {
    await using all = await open();
    const { github, stacks } = all;
    github.setWebhook(null);
    await github.renameAccount('acme', 'acme-inc');
    github.addAccount({ login: 'acme', type: 'Organization' });
    await github.installApp('acme');
    await all.reconciler.all();

    expect(await all.stack()).toMatchObject({ account: 'acme-inc' });
    expect(await stacks.find('acme', 'network')).toBeNull();
  });

  test('the App is suspended on it, and not any more', async () => {
    await using all = await open();
    await all.github.suspendApp('acme', true);
    await all.handled();
    expect(await all.stack()).toMatchObject({ away: 'suspended' });
    expect(await all.push()).toBe(0);
    await all.reconciler.all();
    expect(await all.stack()).toMatchObject({ away: 'suspended' });

    await all.github.suspendApp('acme', false);
    await all.handled();

    expect((await all.stack())?.away).toBeUndefined();
    expect(await all.push()).toBe(202);
  });

  test.each(['told', 'found out'])('the App is removed from it and installed again: %s', async (how) => {
    await using all = await open();
    const { github } = all;
    const look = async () => {
      if (how === 'found out') await all.reconciler.all();
      else await all.handled();
    };
    if (how === 'found out') github.setWebhook(null);
    await github.uninstallApp('acme');
    await look();
    expect(await all.stack()).toMatchObject({ away: 'removed' });

    const again = await github.installApp('acme');
    await look();

    expect(await all.stack()).toMatchObject({ repository: { installationId: again.id } });
    expect((await all.stack())?.away).toBeUndefined();
  });

  test('it accepts new permissions: the next request has them', async () => {
    await using all = await open();
    const { app, github, infra, installation } = all;
    const { contents: _, ...less } = installation.permissions;
    installation.permissions = less;
    app.forgetToken(installation.id);
    const readCommits = async () => {
      const { rest } = await app.asInstallation(installation.id);
      return (await rest.repos.listCommits({ owner: 'acme', repo: infra.name })).status;
    };
    await expect(readCommits()).rejects.toMatchObject({ status: 403 });

    await github.acceptPermissions('acme', { ...less, contents: 'read' });
    await all.handled();

    expect(await readCommits()).toBe(200);
  });
});

describe('payloads without an installation', () => {
  test.each(['push', 'pull_request', 'repository', 'installation_repositories', 'installation_target'])(
    'of %s are not acted on, and wait for a person',
    async (event) => {
      await using all = await open();
      const { infra } = all;
      const repository = {
        ...{ id: infra.id, full_name: infra.fullName, private: true, default_branch: 'main' },
        owner: { id: infra.owner.id, login: 'acme' },
      };
      const payload = { action: 'opened', repository, ref: 'refs/heads/main' };

      const outcome = await all.handle({
        ...{ id: 'd', event, lane: 'x', attempt: 1, receivedAtMs: 0 },
        body: Buffer.from(JSON.stringify(payload)),
      });

      expect(outcome).toMatchObject({
        state: 'failed',
        note: expect.stringContaining('payload not understood'),
      });
      expect(all.pushes).toEqual([]);
      expect(all.changes).toEqual([]);
    },
  );
});
