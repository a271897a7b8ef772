import { describe, expect, it } from 'vitest';
import { anInstallation, apiRequest, call, untilUnconfirmed } from './installation.ts';
import { addTroubledRun, heldLock } from './troubled-run.ts';

async function opened(...[about]: Parameters<typeof addTroubledRun>[2][]) {
  const installation = anInstallation();
  const stack = await installation.addStack();
  const run = await addTroubledRun(installation, stack, about);
  const token = await installation.token('admin');
  const mend = (as = token, id = run.id) =>
    call(installation, 'POST', `/api/v1/runs/${id}/mend`, { token: as });
  const explain = async (id = run.id) =>
    (await call(installation, 'GET', `/api/v1/runs/${id}/explanation`, { token })).body;
  return {
    ...{ installation, stack, run, token, mend, explain },
    [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose](),
  };
}

const cancel = 'pulumi cancel --yes';

describe('mending', () => {
  it('is a task of the same commit, and the only one while it is under way', async () => {
    await using all = await opened();
    const { run } = all;

    const { status, body, headers } = await all.mend();

    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/api/v1/runs/${body.id}`);
    expect(body).toMatchObject({
      type: 'TASK',
      command: cancel,
      branch: run.branch,
      triggeredBy: 'admin-token',
    });
    expect(body.commit.hash).toBe(run.commit.hash);
    const { body: states } = await call(all.installation, 'GET', `/api/v1/runs/${body.id}/states`, {
      token: all.token,
    });
    expect(states.items[0]).toMatchObject({ state: 'QUEUED', note: `mends what run ${run.id} met` });

    const again = await all.mend();
    expect([again.status, again.body.code]).toEqual([409, 'nothing-to-mend']);
    expect(again.body.hint).toContain(body.id);
    expect((await all.explain()).mend).toEqual({ standing: 'under-way', run: body.id });
  });

  it('is kept in the audit log, with the run', async () => {
    await using all = await opened();
    await all.mend();

    const { body } = await call(all.installation, 'GET', '/api/v1/audit', { token: all.token });

    expect(body.items[0]).toMatchObject({
      operation: 'POST /api/v1/runs/{run}/mend',
      run: all.run.id,
      outcome: 'done',
    });
  });

  it('is begun once for one key', async () => {
    await using all = await opened();
    const send = async () => {
      const request = apiRequest('POST', `/api/v1/runs/${all.run.id}/mend`, { token: all.token });
      request.headers.set('idempotency-key', 'once');
      const answer = await all.installation.web.fetch(request);
      return { status: answer.status, body: (await answer.json()) as { id: string } };
    };
    const [first, second] = [await send(), await send()];

    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body.id).toBe(first.body.id);
  });

  it('waits for nobody: a locked stack has to be unlocked first', async () => {
    await using all = await opened();
    const { installation, stack } = all;
    await installation.stacks.lock(stack, { kind: 'person', login: 'grace', email: 'g@example.com' }, 'mine');

    const { status, body } = await all.mend();

    expect([status, body.code]).toEqual([409, 'locked']);
    const { mend, next } = await all.explain();
    expect(mend).toEqual({ standing: 'locked', command: cancel });
    expect(next.map(({ action }: { action?: string }) => action)).toEqual([
      undefined,
      'unlock',
      'mend',
      'retry',
    ]);
    await call(installation, 'DELETE', '/api/v1/stacks/acme/network-prod/lock', { token: all.token });
    expect((await all.mend()).status).toBe(201);
  });

  it('is not for what a newer run has found otherwise', async () => {
    await using all = await opened();
    const { installation, stack } = all;
    const newer = await addTroubledRun(installation, stack);

    expect((await all.mend()).body).toMatchObject({
      code: 'nothing-to-mend',
      hint: expect.stringContaining(newer.id),
    });
    expect((await all.mend(all.token, newer.id)).status).toBe(201);
  });

  it('is not for a run that met no trouble, nor for a preview', async () => {
    await using all = await opened({ type: 'PROPOSED' });
    const { installation, stack } = all;
    const sound = await installation.move(await installation.addRun(stack), ...untilUnconfirmed);

    for (const id of [all.run.id, sound.id]) {
      expect((await all.mend(all.token, id)).body.code).toBe('nothing-to-mend');
    }
  });

  it('is for administrators of the stack', async () => {
    await using all = await opened();

    expect((await all.mend(await all.installation.token('writer'))).status).toBe(403);
    expect((await all.mend(await all.installation.token('admin', 'globex'))).status).toBe(404);
  });
});

describe('the explanation of a run', () => {
  it('says what happened and what to do, in order', async () => {
    await using all = await opened();

    expect(await all.explain()).toEqual({
      ...{ run: all.run.id, state: 'FAILED', stateVersion: all.run.stateVersion },
      happened: 'The lock of the state is held by somebody else. Nothing was applied.',
      note: 'The state is locked.',
      next: [
        { text: 'Read in the log what was said.', command: `slipway run logs ${all.run.id}` },
        {
          text: expect.stringContaining('releases the lock of the state that ada@host, process 17 holds.'),
          command: `slipway run mend ${all.run.id}`,
          action: 'mend',
        },
        {
          text: expect.stringMatching(/^Run it again: A new run of commit /),
          command: `slipway run retry ${all.run.id}`,
          action: 'retry',
        },
      ],
      trouble: heldLock,
      mend: { standing: 'possible', command: cancel },
    });
  });

  it('is there for a run that nothing happened to yet', async () => {
    await using all = await opened();
    const { installation, stack } = all;
    const run = await installation.addRun(stack);

    expect(await all.explain(run.id)).toMatchObject({
      state: 'READY',
      happened: 'It starts by itself as soon as a worker is free.',
      next: [{ action: 'cancel' }],
    });
  });
});
