import { describe, expect, it } from 'vitest';
import type { Transactions } from '../../src/tx.ts';
import { removeStack } from '../../src/web/api/stack-removal.ts';
import { appendLog } from '../support/append-log.ts';
import { anInstallation, apiRequest, call, untilUnconfirmed } from './installation.ts';

const path = '/api/v1/stacks';
const vendor = { pulumi: { loginUrl: 'file:///state', stackName: 'dev' } };
const input = { name: 'Network Prod', repository: 'acme/infra', vendor };

describe('the stacks of the API', () => {
  it('are made with defaults for everything that was left out', async () => {
    await using installation = anInstallation();
    const token = await installation.token('admin');

    const made = await call(installation, 'POST', path, { token, body: input });

    expect(made.status).toBe(201);
    expect(made.headers.get('location')).toBe('/api/v1/stacks/acme/network-prod');
    const none = Object.fromEntries(Object.keys(made.body.hooks).map((name) => [name, []]));
    expect(made.body).toEqual({
      ...input,
      account: 'acme',
      id: 'network-prod',
      description: '',
      labels: [],
      branch: 'main',
      projectRoot: '',
      additionalProjectGlobs: [],
      autodeploy: false,
      planBinding: true,
      promotion: false,
      publicDetails: false,
      allowForks: false,
      trustedBots: [],
      checks: 'each',
      unaffectedChecks: false,
      deploymentEnvironment: null,
      hooks: none,
      state: 'NONE',
      bucket: 'never-ran',
      lastRun: null,
      queued: 0,
      lock: null,
      role: 'admin',
      managedBy: null,
    });
    expect(Object.keys(none)).toHaveLength(11);
    const shown = await call(installation, 'GET', '/api/v1/stacks/ACME/network-prod', { token });
    expect(shown.body).toEqual(made.body);
  });

  it.each([
    ['the same name again', input, 409, 'stack-exists'],
    [
      'a repository without the App',
      { ...input, name: 'B', repository: 'acme/none' },
      422,
      'repository-not-installed',
    ],
    [
      'a login URL that reaches the host',
      { ...input, name: 'B', vendor: { pulumi: { ...vendor.pulumi, loginUrl: 'file:///etc' } } },
      422,
      'login-url-not-allowed',
    ],
    ['an unknown field', { ...input, name: 'B', autoDeploy: true }, 422, 'invalid-input'],
    ['an unknown vendor', { ...input, name: 'B', vendor: { other: {} } }, 422, 'invalid-input'],
    ['no name', { repository: 'acme/infra', vendor }, 422, 'invalid-input'],
    ['a root outside the repository', { ...input, name: 'B', projectRoot: '../x' }, 422, 'invalid-input'],
  ])('refuse %s', async (_, body, status, code) => {
    await using installation = anInstallation();
    const token = await installation.token('admin');
    await installation.addStack();

    const refused = await call(installation, 'POST', path, { token, body });

    expect(refused.status).toBe(status);
    expect(refused.headers.get('content-type')).toBe('application/problem+json');
    expect(refused.body).toMatchObject({
      code,
      status,
      title: expect.any(String),
      detail: expect.any(String),
    });
  });

  it('name the field that is wrong', async () => {
    await using installation = anInstallation();
    const token = await installation.token('admin');

    const refused = await call(installation, 'POST', path, { token, body: { ...input, labels: ['ok', ''] } });

    expect(refused.body.errors).toEqual([{ path: 'labels.1', message: expect.any(String) }]);
  });

  it('change field by field', async () => {
    await using installation = anInstallation();
    const token = await installation.token('admin');
    await installation.addStack();
    const body = { autodeploy: true, hooks: { beforeInit: ['npm ci'] } };

    const changed = await call(installation, 'PATCH', `${path}/acme/network-prod`, { token, body });

    expect(changed.status).toBe(200);
    expect(changed.body).toMatchObject({ name: 'Network Prod', autodeploy: true, branch: 'main' });
    expect(changed.body.hooks.beforeInit).toEqual(['npm ci']);
    expect(changed.body.hooks.afterInit).toEqual([]);
  });

  it('keep their id and repository when they are renamed', async () => {
    await using installation = anInstallation();
    const token = await installation.token('admin');
    await installation.addStack();

    const renamed = await call(installation, 'PATCH', `${path}/acme/network-prod`, {
      token,
      body: { name: 'Net' },
    });
    const moved = await call(installation, 'PATCH', `${path}/acme/network-prod`, {
      token,
      body: { repository: 'globex/infra' },
    });

    expect(renamed.body).toMatchObject({ id: 'network-prod', name: 'Net' });
    expect(moved.status).toBe(422);
  });

  it('are listed page by page, each once', async () => {
    await using installation = anInstallation();
    const token = await installation.token('reader', 'acme');
    for (const name of ['a', 'b', 'c', 'd', 'e']) await installation.addStack(name);
    await installation.addStack('other', 'globex/infra');

    const names: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await call(installation, 'GET', `${path}?limit=2&cursor=${cursor}`, { token });
      names.push(...page.body.items.map((stack: { name: string }) => stack.name));
      cursor = page.body.nextCursor;
    }

    expect(names).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('are listed for a person when GitHub says so, however many others there are', async () => {
    await using installation = anInstallation();
    await installation.addStack('mine');
    for (const name of ['a', 'b', 'c', 'd', 'e']) await installation.addStack(name, 'globex/infra');
    await installation.addStack('mine too');
    installation.roles.set('ada acme/infra', 'reader');
    const ada = { kind: 'person', login: 'ada', email: 'ada@example.com' } as const;
    async function page(query: string) {
      const response = await installation.web.fetchAs(ada, apiRequest('GET', `${path}${query}`));
      return (await response.json()) as { items: { id: string }[]; nextCursor: string | null };
    }

    const first = await page('?limit=1');
    const second = await page(`?limit=1&cursor=${first.nextCursor}`);

    expect(first.items.map(({ id }) => id)).toEqual(['mine']);
    expect(second).toMatchObject({ items: [{ id: 'mine-too' }], nextCursor: null });
  });

  it.each(['x', 'bm90LWEtdWxpZA', '01JD4Z0P6V3Q8N5T2W7X9Y1B4C'])('refuse the cursor %s', async (cursor) => {
    await using installation = anInstallation();
    const token = await installation.token('reader');

    const refused = await call(installation, 'GET', `${path}?cursor=${cursor}`, { token });

    expect(refused.body).toMatchObject({ status: 422, errors: [{ path: 'cursor' }] });
  });

  it('show the state of the blocking run that is under way, else of the newest', async () => {
    await using installation = anInstallation();
    const token = await installation.token('reader');
    const stack = await installation.addStack();
    const state = async () =>
      (await call(installation, 'GET', `${path}/acme/network-prod`, { token })).body.state;

    const preview = await installation.addRun(stack, 'PROPOSED');
    expect(await state()).toBe('NONE');
    const first = await installation.move(await installation.addRun(stack), ...untilUnconfirmed);
    const second = await installation.addRun(stack);
    expect([await state(), second.state]).toEqual(['UNCONFIRMED', 'QUEUED']);
    await installation.move(first, { kind: 'discard' });
    await installation.move(second, { kind: 'cancel' });
    expect(await state()).toBe('CANCELED');
    expect(preview.state).toBe('READY');
  });

  it('are not deleted while a run is under way', async () => {
    await using installation = anInstallation();
    const token = await installation.token('admin');
    const stack = await installation.addStack();
    const run = await installation.addRun(stack);
    await appendLog(installation.logs, run.id, 'preparing', 'hello');

    const busy = await call(installation, 'DELETE', `${path}/acme/network-prod`, { token });
    await installation.move(run, { kind: 'cancel' });
    const deleted = await call(installation, 'DELETE', `${path}/acme/network-prod`, { token });
    const gone = await call(installation, 'GET', `/api/v1/runs/${run.id}`, { token });

    expect(busy.body).toMatchObject({ status: 409, code: 'stack-busy', hint: expect.any(String) });
    expect([deleted.status, gone.status]).toEqual([204, 404]);
    expect(await installation.logs.read(run.id, 'preparing', 0, 10)).toMatchObject({ size: 0 });
  });

  it('are deleted with the log of a run that was made while they were', async () => {
    await using installation = anInstallation();
    const { stackStore, runs, logs, database } = installation;
    const stack = await installation.addStack();
    const late: string[] = [];
    const transactions: Transactions = {
      ...database,
      // The last moment in which a run can be made.
      async write(work) {
        const run = await installation.addRun(stack);
        late.push(run.id);
        await appendLog(logs, run.id, 'preparing', 'hello');
        await installation.move(run, { kind: 'cancel' });
        return database.write(work);
      },
    };

    await removeStack({ stackStore, runs, logs, transactions }, stack);

    expect(await stackStore.findByKey(stack.key)).toBeNull();
    expect(late).toHaveLength(1);
    expect(await logs.read(late[0] ?? '', 'preparing', 0, 10)).toMatchObject({ size: 0 });
  });

  it('do not tell a token of another account where the App is installed', async () => {
    await using installation = anInstallation();
    const token = await installation.token('admin', 'globex');

    const there = await call(installation, 'POST', path, { token, body: input });
    const nowhere = await call(installation, 'POST', path, {
      token,
      body: { ...input, repository: 'acme/none' },
    });

    expect(there.status).toBe(404);
    expect(nowhere.body).toEqual(there.body);
  });
});
