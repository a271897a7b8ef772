import { describe, expect, it } from 'vitest';
import { addJudgedRun, changesDigest } from './denied-run.ts';
import { anInstallation, call } from './installation.ts';

async function opened(...[about]: Parameters<typeof addJudgedRun>[2][]) {
  const installation = anInstallation();
  const stack = await installation.addStack();
  const run = await addJudgedRun(installation, stack, about);
  const path = `/api/v1/runs/${run.id}`;
  const token = await installation.token('admin');
  const override = (body: unknown, as = token) =>
    call(installation, 'POST', `${path}/override`, { token: as, body });
  const list = async (id = run.id) =>
    (await call(installation, 'GET', `/api/v1/runs/${id}/overrides`, { token })).body.items;
  return {
    ...{ installation, stack, run, path, token, override, list },
    [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose](),
  };
}

describe('an override', () => {
  it('lets the changes of a denied run pass, and changes no run', async () => {
    await using all = await opened();

    const { status, body } = await all.override({ reason: '  the freeze is over ' });

    expect(status).toBe(200);
    expect(body).toEqual({
      ...{ run: all.run.id, changesDigest, by: 'admin-token', reason: 'the freeze is over' },
      timestamp: expect.any(Number),
    });
    const { body: run } = await call(all.installation, 'GET', all.path, { token: all.token });
    expect(run).toMatchObject({ state: 'FAILED', outcome: 'policy_denied', changesDigest });
    expect(await all.list()).toEqual([body]);
  });

  it('is shown on every run of the stack that would change the same', async () => {
    await using all = await opened();
    await all.override({ reason: 'known' });
    const again = await addJudgedRun(all.installation, all.stack);
    const elsewhere = await addJudgedRun(all.installation, await all.installation.addStack('Other'));
    const unplanned = await all.installation.addRun(all.stack);

    expect(await all.list(again.id)).toMatchObject([{ run: all.run.id, reason: 'known' }]);
    expect(await all.list(elsewhere.id)).toEqual([]);
    expect(await all.list(unplanned.id)).toEqual([]);
  });

  it('is not for a policy that could not be evaluated', async () => {
    await using all = await opened({ outcome: 'policy_failed' });

    const { status, body } = await all.override({ reason: 'known' });

    expect([status, body.code]).toEqual([409, 'not-denied']);
    expect(body.hint).toContain('mended');
    expect(await all.list()).toEqual([]);
  });

  it.each([[{ reason: '  ' }], [{}], [{ reason: 'x'.repeat(1001) }]])(
    'takes a reason and nothing else: %j',
    async (body) => {
      await using all = await opened();

      expect((await all.override(body)).status).toBe(422);
      expect(await all.list()).toEqual([]);
    },
  );

  it('is for administrators of the stack', async () => {
    await using all = await opened();

    expect((await all.override({ reason: 'x' }, await all.installation.token('writer'))).status).toBe(403);
    const stranger = await all.installation.token('admin', 'globex');
    expect((await all.override({ reason: 'x' }, stranger)).status).toBe(404);
    expect(await all.list()).toEqual([]);
  });
});
