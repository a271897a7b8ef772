import { describe, expect, test } from 'vitest';
import { createPermissions, roleOf } from '../../src/github/permissions.ts';
import { aClock, startGithub } from './support.ts';

describe('a role on GitHub', () => {
  const json = (role_name: string, permission: string, triage = false) => ({
    role_name,
    permission,
    user: { permissions: { triage } },
  });

  test.each([
    ['admin', 'admin', 'admin', 'admin'],
    ['maintain', 'write', 'writer', 'writer'],
    ['write', 'write', 'writer', 'writer'],
    ['triage', 'read', 'reader', 'reader'],
    ['read', 'read', 'reader', null],
    ['none', 'none', null, null],
    ['security-team', 'admin', 'admin', 'admin'],
    ['security-team', 'write', 'writer', 'writer'],
    ['security-team', 'read', 'reader', null],
    ['security-team', 'none', null, null],
    ['security-team', 'something new', null, null],
  ])('%s (%s) means %s on a private repository and %s on a public one', (name, old, onPrivate, onPublic) => {
    expect(roleOf(json(name, old), true)).toBe(onPrivate);
    expect(roleOf(json(name, old), false)).toBe(onPublic);
  });

  test('of its own name counts as reader on a public repository when it may triage', () => {
    expect(roleOf(json('support', 'read', true), false)).toBe('reader');
  });
});

async function open(isPrivate = true) {
  const started = await startGithub();
  const { github, app, installation } = started;
  const repository = await github.addRepository({ owner: 'acme', name: 'infra', private: isPrivate });
  const clock = aClock();
  const permissions = createPermissions({ app, clock });
  const ref = { id: repository.id, fullName: 'acme/infra', installationId: installation.id, isPrivate };
  const questions = () => github.requests.filter(({ path }) => path.endsWith('/permission')).length;
  return { ...started, repository, clock, permissions, ref, questions };
}

describe('permissions', () => {
  test('are asked live for whatever changes something', async () => {
    await using all = await open();
    const { github, repository, permissions, ref, questions } = all;
    github.setPermission(repository, 'ada', 'maintain');

    expect(await permissions.roleOf({ login: 'ada' }, ref, true)).toBe('writer');
    github.setPermission(repository, 'ada', null);
    expect(await permissions.roleOf({ login: 'ada' }, ref, true)).toBeNull();
    expect(questions()).toBe(2);
  });

  test('may be ten seconds old for reads', async () => {
    await using all = await open();
    const { github, repository, permissions, ref, clock, questions } = all;
    github.setPermission(repository, 'ada', 'admin');
    expect(await permissions.roleOf({ login: 'ada' }, ref, false)).toBe('admin');
    github.setPermission(repository, 'ada', null);

    clock.ms += 9999;
    expect(await permissions.roleOf({ login: 'Ada' }, ref, false)).toBe('admin');
    expect(questions()).toBe(1);
    clock.ms += 1;
    expect(await permissions.roleOf({ login: 'ada' }, ref, false)).toBeNull();
    expect(questions()).toBe(2);
  });

  test('of everybody on a public repository are none', async () => {
    await using all = await open(false);
    const { github, repository, permissions, ref } = all;
    github.addUser({ login: 'mallory', name: 'Mallory', email: 'm@example.com' });
    github.setPermission(repository, 'ada', 'triage');

    expect(await permissions.roleOf({ login: 'mallory' }, ref, true)).toBeNull();
    expect(await permissions.roleOf({ login: 'ada' }, ref, true)).toBe('reader');
  });

  test.each(['nobody', 'dependabot[bot]', '..', 'a/b', ''])('of "%s" are none', async (login) => {
    await using all = await open();
    expect(await all.permissions.roleOf({ login }, all.ref, true)).toBeNull();
  });

  test.each([500, 403, 401])('are not guessed when GitHub answers %i', async (status) => {
    await using all = await open();
    const { github, repository, permissions, ref } = all;
    github.setPermission(repository, 'ada', 'admin');
    github.failNext({ pathPattern: /access_tokens$/, status });
    // A void token is renewed once.
    if (status === 401) github.failNext({ pathPattern: /access_tokens$/, status });

    await expect(permissions.roleOf({ login: 'ada' }, ref, true)).rejects.toMatchObject({
      code: 'github-unavailable',
    });
    expect(await permissions.roleOf({ login: 'ada' }, ref, false)).toBe('admin');
  });

  test('of a login that changed hands are not those of its new owner', async () => {
    await using all = await open();
    const { github, repository, permissions, ref } = all;
    const { id: userId } = github.addUser({ login: 'carol', name: 'Carol', email: 'c@example.com' });
    github.setPermission(repository, 'carol', 'admin');

    expect(await permissions.roleOf({ login: 'carol', userId }, ref, true)).toBe('admin');
    expect(await permissions.roleOf({ login: 'carol', userId: userId + 1 }, ref, true)).toBeNull();
    // Not from what was asked for somebody else either.
    expect(await permissions.roleOf({ login: 'carol', userId: userId + 1 }, ref, false)).toBeNull();
    expect(await permissions.roleOf({ login: 'carol', userId }, ref, false)).toBe('admin');
  });

  test('of somebody whom GitHub does not name are none', async () => {
    const answer = { permission: 'admin', role_name: 'admin', user: null };
    const asInstallation = async () => ({
      rest: { repos: { getCollaboratorPermissionLevel: async () => ({ data: answer }) } },
    });
    const app = { asInstallation } as unknown as Parameters<typeof createPermissions>[0]['app'];
    const permissions = createPermissions({ app, clock: aClock() });
    const ref = { id: 1, fullName: 'acme/infra', installationId: 1, isPrivate: true };

    expect(await permissions.roleOf({ login: 'ada', userId: 5 }, ref, true)).toBeNull();
    expect(await permissions.roleOf({ login: 'ada' }, ref, true)).toBe('admin');
  });
});
