import { describe, expect, it } from 'vitest';
import { anInstallation, branchHead, call, untilUnconfirmed } from './installation.ts';

const stackPath = '/api/v1/stacks/acme/network-prod';
const delta = { added: 2, changed: 0, deleted: 0, resources: 3 };

async function withStack() {
  const installation = anInstallation();
  const stack = await installation.addStack();
  const token = await installation.token('writer');
  const ask = (method: string, path: string, body?: unknown) =>
    call(installation, method, path, { token, body });
  return { installation, stack, ask, [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose]() };
}

describe('runs', () => {
  it('are started by hand and shown whole', async () => {
    await using fixture = await withStack();

    const made = await fixture.ask('POST', `${stackPath}/runs`, { type: 'TRACKED' });
    const shown = await fixture.ask('GET', made.headers.get('location') ?? '');

    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      stack: { account: 'acme', id: 'network-prod', name: 'Network Prod' },
      type: 'TRACKED',
      state: 'QUEUED',
      stateVersion: 1,
      branch: 'main',
      commit: branchHead,
      trust: 'tracked',
      createdAt: expect.any(Number),
      triggeredBy: 'writer-token',
    });
    expect(Math.abs(made.body.createdAt - 1_795_000_000)).toBeLessThan(1000);
    expect(shown.body.id).toBe(made.body.id);
  });

  it.each([
    ['a branch that is not there', { type: 'PROPOSED', branch: 'gone' }, 'commit-not-found'],
    ['a commit that is not on the branch', { type: 'TRACKED', sha: 'f'.repeat(40) }, 'commit-not-found'],
    ['a tracked run of another branch', { type: 'TRACKED', branch: 'topic' }, 'commit-not-tracked'],
    ['a task without a command', { type: 'TASK' }, 'command-required'],
    ['an abbreviated commit', { type: 'TRACKED', sha: '1f0c2b3' }, 'invalid-input'],
    [
      'a branch that git would take for an option',
      { type: 'PROPOSED', branch: '--upload-pack' },
      'invalid-input',
    ],
    ['an unknown type', { type: 'DRIFT' }, 'invalid-input'],
  ])('are not started for %s', async (_, body, code) => {
    await using fixture = await withStack();

    const refused = await fixture.ask('POST', `${stackPath}/runs`, body);

    expect(refused.body).toMatchObject({ status: 422, code });
    expect(refused.body.errors).toHaveLength(1);
  });

  it('that wait say for what', async () => {
    await using fixture = await withStack();
    const first = await fixture.installation.addRun(fixture.stack);
    const second = await fixture.installation.addRun(fixture.stack);

    const list = await fixture.ask('GET', `${stackPath}/runs`);

    expect(list.body.items.map(({ id }: { id: string }) => id)).toEqual([second.id, first.id]);
    expect(list.body.items[0].blockedBy).toEqual({ kind: 'run', run: first.id, state: 'READY' });
    expect(list.body.items[1].blockedBy).toBeUndefined();
  });

  it('tell their states in order', async () => {
    await using fixture = await withStack();
    const run = await fixture.installation.addRun(fixture.stack);
    await fixture.ask('POST', `/api/v1/runs/${run.id}/cancel`, { note: 'not today' });

    const { body } = await fixture.ask('GET', `/api/v1/runs/${run.id}/states`);

    const version = (item: { state: string; stateVersion: number; actor: string }) =>
      `${item.stateVersion} ${item.state} ${item.actor}`;
    expect(body.items.map(version)).toEqual(['1 QUEUED ada', '2 READY server', '3 CANCELED writer-token']);
    expect(body.items[2].note).toBe('not today');
    expect(Number.isInteger(body.items[0].timestamp)).toBe(true);
  });

  it('show their commands and their plan', async () => {
    await using fixture = await withStack();
    const { installation } = fixture;
    const run = await installation.addRun(fixture.stack);
    const path = `/api/v1/runs/${run.id}`;
    const command = {
      phase: 'planning',
      label: 'Preview',
      argv: ['pulumi', 'preview'],
      startedAtMs: 1_795_000_000_123,
      durationMs: 42,
      exitCode: null,
    } as const;
    const before = await fixture.ask('GET', `${path}/changes`);
    const steps = ['a', 'b', 'c'].map((urn) => ({ op: 'create', urn }));
    const plan = await installation.runs.sealPlan(run.id, { hasChanges: true, steps, file: null });
    await installation.database.write(async (tx) => {
      await installation.runs.addCommand(tx, run.id, command);
      await installation.runs.savePlan(tx, plan);
    });

    const commands = await fixture.ask('GET', `${path}/commands`);
    const page = await fixture.ask('GET', `${path}/changes?limit=2`);
    const rest = await fixture.ask('GET', `${path}/changes?limit=2&cursor=${page.body.nextCursor}`);

    expect(commands.body.items).toEqual([command]);
    expect(before.body).toEqual({ hasChanges: null, items: [], nextCursor: null });
    expect(page.body).toMatchObject({ hasChanges: true, items: [{ urn: 'a' }, { urn: 'b' }] });
    expect(rest.body).toEqual({ hasChanges: true, items: [{ op: 'create', urn: 'c' }], nextCursor: null });
  });
});

describe('commands on runs', () => {
  it('confirm what the caller looked at, once', async () => {
    await using fixture = await withStack();
    const { installation } = fixture;
    const run = await installation.move(await installation.addRun(fixture.stack), ...untilUnconfirmed);
    const path = `/api/v1/runs/${run.id}/confirm`;

    const stale = await fixture.ask('POST', path, { stateVersion: run.stateVersion - 1 });
    const [first, second] = await Promise.all([
      fixture.ask('POST', path, { stateVersion: run.stateVersion }),
      fixture.ask('POST', path, { stateVersion: run.stateVersion }),
    ]);

    const state = { state: 'UNCONFIRMED', stateVersion: run.stateVersion };
    expect(stale.body).toMatchObject({ status: 409, code: 'state-conflict', ...state });
    expect([first.status, second.status].sort()).toEqual([200, 409]);
    const lost = first.status === 409 ? first : second;
    expect(lost.body).toMatchObject({ state: 'CONFIRMED', stateVersion: run.stateVersion + 1 });
  });

  it.each(['confirm', 'discard', 'stop', 'retry'])(
    '%s is refused in a state that does not allow it',
    async (name) => {
      await using fixture = await withStack();
      const run = await fixture.installation.addRun(fixture.stack);

      const refused = await fixture.ask('POST', `/api/v1/runs/${run.id}/${name}`);

      expect(refused.body).toMatchObject({
        status: 409,
        code: 'state-conflict',
        state: 'READY',
        stateVersion: 2,
      });
    },
  );

  it('retry makes a new run of the same commit', async () => {
    await using fixture = await withStack();
    const run = await fixture.installation.addRun(fixture.stack);
    const cancelled = await fixture.ask('POST', `/api/v1/runs/${run.id}/cancel`);

    const again = await fixture.ask('POST', `/api/v1/runs/${run.id}/retry`, { stateVersion: 3 });

    expect(cancelled.body).toMatchObject({ state: 'CANCELED', stateVersion: 3 });
    expect(again.status).toBe(200);
    expect(again.body).toMatchObject({ type: 'TRACKED', commit: branchHead, triggeredBy: 'writer-token' });
    expect(again.body.id).not.toBe(run.id);
    expect(again.headers.get('location')).toBe(`/api/v1/runs/${again.body.id}`);
  });

  it('a tear-down needs the name of its stack', async () => {
    await using fixture = await withStack();
    const { installation } = fixture;
    const run = await installation.move(
      await installation.addRun(fixture.stack, 'DESTROY'),
      ...untilUnconfirmed,
    );
    const confirm = (body: unknown) => fixture.ask('POST', `/api/v1/runs/${run.id}/confirm`, body);

    const wrong = await confirm({ confirmation: 'network-prod' });
    const right = await confirm({ confirmation: 'Network Prod' });

    expect(wrong.body).toMatchObject({ status: 422, code: 'confirmation-required' });
    expect(right.body.state).toBe('CONFIRMED');
  });

  it('leave the delta in the run once it is known', async () => {
    await using fixture = await withStack();
    const { installation } = fixture;
    const run = await installation.move(
      await installation.addRun(fixture.stack),
      ...untilUnconfirmed.slice(0, 3),
    );
    const planned = await installation.database.write((tx) =>
      installation.runs.change(tx, run.id, run.stateVersion, { state: 'UNCONFIRMED', note: null, delta }),
    );

    const shown = await fixture.ask('GET', `/api/v1/runs/${run.id}`);

    expect(planned).not.toBeNull();
    expect(shown.body).toMatchObject({ state: 'UNCONFIRMED', delta });
  });
});
