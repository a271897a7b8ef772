import { describe, expect, it } from 'vitest';
import { aPlanPolicy, denying, policiesPath, withPolicies } from './policy-world.ts';

const stackPolicies = '/api/v1/stacks/acme/network-prod/policies';

describe('policies', () => {
  it('are made, shown, listed and deleted', async () => {
    await using fixture = await withPolicies();
    const { admin } = fixture;
    const made = await admin('POST', policiesPath, { ...aPlanPolicy, description: 'why' });

    expect(made).toMatchObject({
      status: 201,
      body: { ...aPlanPolicy, regoVersion: 1, version: 1, labels: [] },
    });
    expect(made.body).toMatchObject({ rules: ['deny'], hints: [], updatedBy: 'admin-token' });
    const path = made.headers.get('location') ?? '';
    const shown = await admin('GET', path);
    const { hints, ...policy } = made.body;
    expect(shown.body).toEqual(policy);
    expect(shown.headers.get('etag')).toBe(made.headers.get('etag'));
    expect((await admin('GET', policiesPath)).body).toEqual({ items: [policy], nextCursor: null });
    expect((await admin('DELETE', path)).status).toBe(204);
    expect((await admin('GET', path)).status).toBe(404);
    expect((await admin('DELETE', path)).status).toBe(404);
  });

  it('tell where their source is wrong, new, changed and checked, and nothing is lost', async () => {
    await using fixture = await withPolicies();
    const { admin } = fixture;
    const body = 'deny: []\n!var x is unsafe';
    const made = await admin('POST', policiesPath, aPlanPolicy);
    const path = `${policiesPath}/${made.body.id}`;
    const problem = {
      status: 422,
      code: 'policy-invalid',
      detail: 'line 2: var x is unsafe',
      errors: [{ path: 'body', message: 'var x is unsafe', line: 2, column: 1 }],
    };

    for (const answer of [
      await admin('POST', policiesPath, { ...aPlanPolicy, name: 'other', body }),
      await admin('PUT', path, { name: 'new name', body }),
      await admin('POST', `${policiesPath}/check`, { kind: 'PLAN', body }),
      await admin('POST', `${path}/simulate`, { input: {}, body }),
      await admin('POST', `${path}/simulate-runs`, { body }),
    ]) {
      expect(answer.body).toMatchObject(problem);
    }
    const { hints, ...policy } = made.body;
    expect((await admin('GET', policiesPath)).body.items).toEqual([policy]);
  });

  it.each([
    ['no rule of the kind', 'track: true', 'no rule of PLAN policies'],
    ['too much', `deny: []\n${'#'.repeat(64 * 1024)}`, '65536'],
    ['halves of characters', 'deny: []\n# \ud800', 'Unicode'],
    ['nothing', '', 'no rule of PLAN policies'],
  ])('are not saved with %s', async (_what, body, reason) => {
    await using fixture = await withPolicies();
    const answer = await fixture.admin('POST', policiesPath, { ...aPlanPolicy, body });
    expect(answer.body).toMatchObject({ code: 'policy-invalid', detail: expect.stringContaining(reason) });
  });

  it.each([
    ['a kind that there is not', { kind: 'PLANS' }, 'kind'],
    ['no name', { name: '  ' }, 'name'],
    ['a name with NUL', { name: 'a\0b' }, 'name'],
    ['an old version', { regoVersion: 2 }, 'regoVersion'],
    ['labels that are none', { labels: [''] }, 'labels.0'],
    ['a field that there is not', { rules: [] }, 'rules'],
  ])('are refused with %s', async (_what, wrong, path) => {
    await using fixture = await withPolicies();
    const { status, body } = await fixture.admin('POST', policiesPath, { ...aPlanPolicy, ...wrong });
    expect([status, body.code, body.errors[0].path]).toEqual([422, 'invalid-input', path]);
  });

  it('are not saved without an engine, but renamed', async () => {
    const engine = { standing: false };
    await using fixture = await withPolicies({
      check: async () =>
        engine.standing
          ? { kind: 'valid', package: 'slipway', rules: [{ name: 'deny', line: 1, type: 'set' }] }
          : { kind: 'unavailable', reason: 'there is no opa' },
    });
    const { admin } = fixture;
    const refused = await admin('POST', policiesPath, aPlanPolicy);
    expect(refused.body).toMatchObject({ status: 503, code: 'policy-engine-unavailable' });
    expect(refused.body.detail).toContain('there is no opa');
    expect((await admin('GET', policiesPath)).body.items).toEqual([]);

    engine.standing = true;
    const { id } = (await admin('POST', policiesPath, aPlanPolicy)).body;
    engine.standing = false;
    const path = `${policiesPath}/${id}`;
    expect((await admin('PUT', path, { body: 'deny: []' })).status).toBe(503);
    expect((await admin('PUT', path, { name: 'other' })).body).toMatchObject({ name: 'other', version: 1 });
  });

  it('have a name once in an account', async () => {
    await using fixture = await withPolicies();
    const { admin } = fixture;
    await admin('POST', policiesPath, aPlanPolicy);
    const taken = await admin('POST', policiesPath, { ...aPlanPolicy, name: 'No Deletes' });
    expect(taken.body).toMatchObject({ status: 409, code: 'policy-name-taken', errors: [{ path: 'name' }] });
    const { id } = (await admin('POST', policiesPath, { ...aPlanPolicy, name: 'other' })).body;
    const renamed = await admin('PUT', `${policiesPath}/${id}`, { name: 'no deletes' });
    expect(renamed.body).toMatchObject({ status: 409, code: 'policy-name-taken' });
  });

  it('keep each version, and what a change leaves out', async () => {
    await using fixture = await withPolicies();
    const { admin } = fixture;
    const made = await admin('POST', policiesPath, { ...aPlanPolicy, labels: ['autoattach:prod'] });
    const path = `${policiesPath}/${made.body.id}`;
    await admin('PUT', path, { description: 'new' });
    const changed = await admin('PUT', path, { body: 'warn: []', kind: 'PLAN' });

    expect(changed.body).toMatchObject({
      ...{ version: 2, description: 'new', labels: ['autoattach:prod'], rules: ['warn'], body: 'warn: []' },
    });
    const { items } = (await admin('GET', `${path}/versions`)).body;
    expect(items).toMatchObject([
      { version: 2, body: 'warn: []', rules: ['warn'] },
      { version: 1, body: denying, rules: ['deny'], digest: made.body.digest, createdBy: 'admin-token' },
    ]);
    const other = await admin('PUT', path, { kind: 'PUSH' });
    expect(other.body).toMatchObject({ status: 422, code: 'invalid-input', errors: [{ path: 'kind' }] });
  });

  it('are changed and deleted only as they were loaded', async () => {
    await using fixture = await withPolicies();
    const { admin } = fixture;
    const made = await admin('POST', policiesPath, aPlanPolicy);
    const path = `${policiesPath}/${made.body.id}`;
    const asLoaded = new Headers({ 'if-match': made.headers.get('etag') ?? '' });
    const changed = await admin('PUT', path, { description: 'first' }, asLoaded);
    const late = await admin('PUT', path, { description: 'second' }, asLoaded);
    const deleted = await admin('DELETE', path, undefined, asLoaded);

    expect([changed.status, late.status, deleted.status]).toEqual([200, 412, 412]);
    expect(late.body.code).toBe('precondition-failed');
    const now = await admin('GET', path);
    expect(now.body.description).toBe('first');
    expect(now.headers.get('etag')).toBe(changed.headers.get('etag'));
    const known = new Headers({ 'if-none-match': now.headers.get('etag') ?? '' });
    expect((await admin('GET', path, undefined, known)).status).toBe(304);
    const fresh = new Headers({ 'if-match': now.headers.get('etag') ?? '' });
    expect((await admin('DELETE', path, undefined, fresh)).status).toBe(204);
  });

  it('are made once for an Idempotency-Key, and the answer is for those who manage them still', async () => {
    await using fixture = await withPolicies();
    const { admin, writer } = fixture;
    const key = new Headers({ 'idempotency-key': 'one' });
    const first = await admin('POST', policiesPath, aPlanPolicy, key);
    const again = await admin('POST', policiesPath, aPlanPolicy, key);
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    expect((await writer('POST', policiesPath, aPlanPolicy, key)).status).toBe(403);
    await admin('DELETE', `${policiesPath}/${first.body.id}`);
    expect((await admin('POST', policiesPath, aPlanPolicy, key)).status).toBe(404);
  });

  it('are listed page by page, by account and kind', async () => {
    await using fixture = await withPolicies();
    const { instance } = fixture;
    await fixture.installation.addStack('Other', 'globex/infra');
    for (const [name, kind, account] of [
      ['a', 'PLAN', 'acme'],
      ['b', 'PUSH', 'acme'],
      ['c', 'PLAN', 'globex'],
    ]) {
      const body = kind === 'PLAN' ? denying : 'track: true';
      await instance('POST', policiesPath, { name, kind, account, body });
    }
    const names = async (query: string) => {
      const { items, nextCursor } = (await instance('GET', `${policiesPath}?${query}`)).body;
      return [items.map(({ name }: { name: string }) => name).join(''), nextCursor] as const;
    };
    const [first, cursor] = await names('limit=2');
    expect([first, await names(`limit=2&cursor=${cursor}`)]).toEqual(['ab', ['c', null]]);
    expect(await names('account=ACME')).toEqual(['ab', null]);
    expect(await names('kind=PLAN')).toEqual(['ac', null]);
    expect((await fixture.admin('GET', `${policiesPath}?account=globex`)).body.items).toEqual([]);
  });

  it('are of the account of the token, of the only one, or of the one that is said', async () => {
    await using fixture = await withPolicies();
    const { admin, instance } = fixture;
    const { account: _, ...without } = aPlanPolicy;
    expect((await admin('POST', policiesPath, without)).body.account).toBe('acme');
    const only = await instance('POST', policiesPath, { ...without, name: 'b' });
    expect(only.body.account).toBe('acme');

    await fixture.installation.addStack('Other', 'globex/infra');
    for (const account of [undefined, 'nobody']) {
      const unclear = await instance('POST', policiesPath, { ...without, account });
      expect(unclear.body).toMatchObject({ code: 'invalid-input', errors: [{ path: 'account' }] });
    }
  });

  it('of logins and notifications are for administrators of the instance alone', async () => {
    await using fixture = await withPolicies();
    const { admin, instance, reader, stack } = fixture;
    const login = { name: 'who', kind: 'LOGIN', body: 'allow: true' };
    const notices = { name: 'tell', kind: 'NOTIFICATION', account: 'acme', body: 'inbox: []' };
    for (const policy of [login, notices]) {
      expect((await admin('POST', policiesPath, policy)).status).toBe(403);
      const made = await instance('POST', policiesPath, policy);
      expect(made.status).toBe(201);
      expect(made.body.account).toBe(policy.kind === 'LOGIN' ? null : 'acme');
      for (const who of [admin, reader]) {
        expect((await who('GET', `${policiesPath}/${made.body.id}`)).status).toBe(404);
        expect((await who('GET', policiesPath)).body.items).toEqual([]);
      }
      const attached = await instance('PUT', `${stackPolicies}/${made.body.id}`);
      expect(attached.body).toMatchObject({ status: 422, code: 'policy-not-attachable' });
      expect((await instance('GET', `${policiesPath}/${made.body.id}/stacks`)).body.items).toEqual([]);
    }
    const labelled = { ...notices, name: 'x', labels: ['autoattach:*'] };
    const refused = await instance('POST', policiesPath, labelled);
    expect(refused.body).toMatchObject({ status: 422, code: 'policy-not-attachable' });
    const ofAccount = await instance('POST', policiesPath, { ...login, account: 'acme' });
    expect(ofAccount.body).toMatchObject({ status: 422, errors: [{ path: 'account' }] });
    expect(stack.account).toBe('acme');
  });

  it('of another account are not there', async () => {
    await using fixture = await withPolicies();
    const { admin, globex } = fixture;
    const { id } = (await admin('POST', policiesPath, aPlanPolicy)).body;
    const path = `${policiesPath}/${id}`;
    for (const [method, url, body] of [
      ['GET', path, undefined],
      ['PUT', path, { name: 'mine' }],
      ['DELETE', path, undefined],
      ['GET', `${path}/versions`, undefined],
      ['GET', `${path}/decisions`, undefined],
      ['GET', `${path}/samples`, undefined],
      ['POST', `${path}/simulate`, { input: {} }],
    ] as const) {
      expect([url, (await globex(method, url, body)).status]).toEqual([url, 404]);
    }
    expect((await globex('POST', policiesPath, aPlanPolicy)).status).toBe(403);
    expect((await globex('GET', policiesPath)).body.items).toEqual([]);
  });
});

describe('policies of a stack', () => {
  it('are attached and detached by its administrators, and read by its readers', async () => {
    await using fixture = await withPolicies();
    const { admin, installation, person } = fixture;
    installation.roles.set('ann', 'admin').set('rob', 'reader');
    const { id } = (await admin('POST', policiesPath, aPlanPolicy)).body;
    const path = `${policiesPath}/${id}`;
    expect((await person('rob', 'GET', path)).status).toBe(404);
    const attachable = await person('ann', 'GET', '/api/v1/stacks/acme/network-prod/attachable-policies');
    expect(attachable.body.items).toMatchObject([{ id }]);

    expect((await person('rob', 'PUT', `${stackPolicies}/${id}`)).status).toBe(403);
    expect((await person('ann', 'PUT', `${stackPolicies}/${id}`)).status).toBe(204);

    expect((await person('rob', 'GET', path)).body).toMatchObject({ id, body: denying });
    expect((await person('rob', 'GET', policiesPath)).body.items).toMatchObject([{ id }]);
    expect((await person('rob', 'GET', stackPolicies)).body.items).toMatchObject([{ id, by: 'attachment' }]);
    const stacks = [{ account: 'acme', id: 'network-prod', by: 'attachment' }];
    expect((await person('rob', 'GET', `${path}/stacks`)).body.items).toEqual(stacks);
    expect((await person('ann', 'PUT', path, { name: 'mine' })).status).toBe(403);
    expect((await person('eve', 'GET', path)).status).toBe(404);

    expect((await person('ann', 'DELETE', `${stackPolicies}/${id}`)).status).toBe(204);
    expect((await person('ann', 'DELETE', `${stackPolicies}/${id}`)).status).toBe(404);
    expect((await person('rob', 'GET', path)).status).toBe(404);
  });

  it('come by label, and go with it', async () => {
    await using fixture = await withPolicies();
    const { admin } = fixture;
    const made = await admin('POST', policiesPath, { ...aPlanPolicy, labels: ['autoattach:*'] });
    const { id } = made.body;
    expect((await admin('GET', stackPolicies)).body.items).toMatchObject([{ id, by: 'label' }]);
    const detached = await admin('DELETE', `${stackPolicies}/${id}`);
    expect(detached.body).toMatchObject({ status: 409, code: 'policy-attached-by-label' });
    await admin('PUT', `${policiesPath}/${id}`, { labels: [] });
    expect((await admin('GET', stackPolicies)).body.items).toEqual([]);
  });

  it('are those of its account', async () => {
    await using fixture = await withPolicies();
    const { instance } = fixture;
    await fixture.installation.addStack('Other', 'globex/infra');
    const { id } = (await instance('POST', policiesPath, { ...aPlanPolicy, account: 'globex' })).body;
    expect((await instance('PUT', `${stackPolicies}/${id}`)).status).toBe(404);
    expect((await instance('DELETE', `${stackPolicies}/${id}`)).status).toBe(404);
    expect((await instance('PUT', `${stackPolicies}/nothing`)).status).toBe(404);
  });
});
