import { describe, expect, it } from 'vitest';
import { anInstallation, call } from './installation.ts';

const path = '/api/v1/stacks/acme/network-prod';

describe('the lock of a stack', () => {
  it('names its holder to whoever comes second', async () => {
    await using installation = anInstallation();
    const [writer, admin] = [await installation.token('writer'), await installation.token('admin')];
    await installation.addStack();

    const first = await call(installation, 'PUT', `${path}/lock`, {
      token: writer,
      body: { note: 'migrating' },
    });
    const again = await call(installation, 'PUT', `${path}/lock`, { token: writer });
    const second = await call(installation, 'PUT', `${path}/lock`, { token: admin });
    const shown = await call(installation, 'GET', path, { token: admin });

    expect([first.status, again.status]).toEqual([204, 204]);
    expect(second.body).toMatchObject({ status: 409, code: 'locked', holder: 'writer-token' });
    expect(shown.body.lock).toEqual({ holder: 'writer-token', reason: '', since: expect.any(Number) });
  });

  it('is taken away by its holder or an administrator', async () => {
    await using installation = anInstallation();
    const { tokens } = installation;
    const other = (
      await tokens.create({ name: 'other', role: 'writer', account: null }, { kind: 'operator' })
    ).token;
    const writer = await installation.token('writer');
    const admin = await installation.token('admin');
    await installation.addStack();
    const lock = () => call(installation, 'PUT', `${path}/lock`, { token: writer });
    const unlock = (token: string) => call(installation, 'DELETE', `${path}/lock`, { token });

    await lock();
    expect((await unlock(other)).status).toBe(403);
    expect((await unlock(writer)).status).toBe(204);
    await lock();
    expect((await unlock(admin)).status).toBe(204);
    expect((await unlock(other)).status).toBe(204);
    expect((await call(installation, 'GET', path, { token: admin })).body.lock).toBeNull();
  });

  it('that the server set after a lost apply is taken away by any writer, and lets waiting runs go', async () => {
    await using installation = anInstallation();
    const writer = await installation.token('writer');
    const stack = await installation.addStack();
    const lost = {
      holder: 'slipway',
      holderKey: '',
      kind: 'system',
      reason: 'A worker was lost.',
      sinceMs: 1_795_000_000_000,
    } as const;
    await installation.database.write((tx) =>
      installation.stackStore.setLock(tx, stack.key, { ...lost, run: '01JRUN0000000000000000000A' }),
    );
    const waiting = await installation.addRun(stack);

    const shown = await call(installation, 'GET', `/api/v1/runs/${waiting.id}`, { token: writer });
    const lock = (await call(installation, 'GET', path, { token: writer })).body.lock;
    const unlocked = await call(installation, 'DELETE', `${path}/lock`, { token: writer });
    await installation.scheduler.settled();

    expect(shown.body).toMatchObject({ state: 'QUEUED', blockedBy: { kind: 'lock', holder: 'slipway' } });
    expect(lock).toMatchObject({ run: '01JRUN0000000000000000000A', since: 1_795_000_000 });
    expect(unlocked.status).toBe(204);
    expect((await installation.runs.find(waiting.id))?.state).toBe('READY');
  });
});
