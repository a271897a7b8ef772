import { describe, expect, it } from 'vitest';
import type { Actor } from '../../src/access/actor.ts';
import { recordedPlan, stackStep, step, urnOf } from '../runs/plan/plan-steps.ts';
import { anInstallation, apiRequest, call, untilUnconfirmed } from './installation.ts';
import { savePlan } from './save-plan.ts';

async function withRun() {
  const installation = anInstallation();
  const stack = await installation.addStack();
  const run = await installation.addRun(stack);
  const token = await installation.token('reader');
  const read = (path: string) => call(installation, 'GET', path, { token });
  const ada: Actor = { kind: 'person', login: 'ada', email: 'ada@example.com' };
  installation.roles.set('ada', 'reader').set('bob', 'reader');

  async function asPerson(method: string, path: string, actor = ada) {
    const answer = await installation.web.fetchAs(actor, apiRequest(method, path));
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
  }
  const path = `/api/v1/runs/${run.id}`;
  const close = () => installation[Symbol.asyncDispose]();
  return { installation, stack, run, read, asPerson, path, ada, [Symbol.asyncDispose]: close };
}

describe('the plan of a run', () => {
  it('is nothing before there is one', async () => {
    await using fixture = await withRun();

    expect((await fixture.read(`${fixture.path}/plan`)).body).toEqual({
      ...{ hasChanges: null, found: 0, items: [], nextCursor: null },
      counts: { create: 0, update: 0, replace: 0, delete: 0, move: 0, outputs: 0 },
    });
  });

  it('says what changes, and what the tool says of it', async () => {
    await using fixture = await withRun();
    await savePlan(fixture.installation, fixture.run, await recordedPlan('replace-create-first'));

    const { body } = await fixture.read(`${fixture.path}/plan`);

    expect(body.counts).toEqual({ create: 0, update: 0, replace: 1, delete: 0, move: 0, outputs: 1 });
    expect(body.items.find(({ op }: { op: string }) => op === 'replace')).toEqual({
      op: 'replace',
      urn: 'urn:pulumi:dev::sample::pulumi:index:Stash::one',
      type: 'pulumi:index:Stash',
      name: 'one',
      movedFrom: null,
      parents: ['urn:pulumi:dev::sample::pulumi:pulumi:Stack::sample-dev'],
      protected: false,
      mayHoldData: false,
      replacedFor: ['input'],
      properties: [{ path: 'input', old: '2', new: '3' }],
      moreProperties: false,
    });
  });

  it('is searched by operation and text, and read in pages', async () => {
    await using fixture = await withRun();
    const steps = [
      stackStep,
      ...['one', 'two', 'three'].map((name) => step('create', name, null, { name })),
      step('delete', 'two-more', {}, null),
    ];
    await savePlan(fixture.installation, fixture.run, { steps });
    const names = async (query: string) => {
      const { body } = await fixture.read(`${fixture.path}/plan?${query}`);
      return [body.found, ...body.items.map(({ name }: { name: string }) => name)];
    };

    expect(await names('op=delete')).toEqual([1, 'two-more']);
    expect(await names('text=TWO')).toEqual([2, 'two', 'two-more']);
    expect(await names('op=create&text=two')).toEqual([1, 'two']);
    const first = await fixture.read(`${fixture.path}/plan?limit=3`);
    expect(await names(`limit=3&cursor=${first.body.nextCursor}`)).toEqual([4, 'two-more']);
    expect((await fixture.read(`${fixture.path}/plan?op=same`)).status).toBe(422);
  });
});

describe('what changed since the plan that somebody saw', () => {
  const before = [step('create', 'stays', null, { a: 1 }), step('update', 'other', { a: 1 }, { a: 2 })];
  const after = [step('create', 'stays', null, { a: 1 }), step('update', 'other', { a: 1 }, { a: 3 })];

  async function withTwo() {
    const fixture = await withRun();
    const { installation, stack, run } = fixture;
    await savePlan(installation, run, { steps: [...before, step('delete', 'gone', {}, null)] });
    const later = await installation.addRun(stack);
    await savePlan(installation, later, { steps: [...after, step('create', 'new', null, {})] });
    return { ...fixture, later: `/api/v1/runs/${later.id}`, laterRun: later };
  }

  it('is said of a later plan, to that person', async () => {
    await using fixture = await withTwo();
    const { asPerson, later } = fixture;
    const unseen = await asPerson('GET', `${later}/changes-since-seen`);
    await asPerson('PUT', `${fixture.path}/seen`);

    const since = await asPerson('GET', `${later}/changes-since-seen`);

    expect(unseen.body).toEqual({ seenAt: null, since: null });
    expect(since.body).toEqual({
      seenAt: null,
      since: {
        run: fixture.run.id,
        commit: fixture.run.commit.hash,
        seenAt: expect.any(Number),
        added: [urnOf('new')],
        gone: [urnOf('gone')],
        different: [urnOf('other')],
      },
    });
    const bob: Actor = { kind: 'person', login: 'bob', email: 'bob@example.com' };
    expect((await asPerson('GET', `${later}/changes-since-seen`, bob)).body.since).toBeNull();
  });

  it('stays the same while that person looks again, and is not said backwards', async () => {
    await using fixture = await withTwo();
    const { asPerson, later, path } = fixture;
    await asPerson('PUT', `${path}/seen`);
    await asPerson('PUT', `${later}/seen`);

    const again = await asPerson('GET', `${later}/changes-since-seen`);

    expect(again.body).toMatchObject({ seenAt: expect.any(Number), since: { run: fixture.run.id } });
    expect((await asPerson('GET', `${path}/changes-since-seen`)).body).toMatchObject({
      ...{ seenAt: expect.any(Number), since: null },
    });
  });

  it('is not said of a plan that was made anew since, nor of a tear-down', async () => {
    await using fixture = await withTwo();
    const { asPerson, installation, stack, later, path, run, laterRun } = fixture;
    await asPerson('PUT', `${path}/seen`);
    await asPerson('PUT', `${later}/seen`);
    const destroy = await installation.addRun(stack, 'DESTROY');
    await savePlan(installation, destroy, { steps: [step('delete', 'stays', {}, null)] });

    await savePlan(installation, run, { steps: before });
    await savePlan(installation, laterRun, { steps: before });

    expect((await asPerson('GET', `${later}/changes-since-seen`)).body).toEqual({
      seenAt: null,
      since: null,
    });
    const ofDestroy = await asPerson('GET', `/api/v1/runs/${destroy.id}/changes-since-seen`);
    expect(ofDestroy.body).toEqual({ seenAt: null, since: null });
  });

  it('is forgotten with the run', async () => {
    await using fixture = await withTwo();
    const { asPerson, installation, later, path, run } = fixture;
    await asPerson('PUT', `${path}/seen`);
    await installation.move(run, ...untilUnconfirmed, { kind: 'discard' });
    await installation.database.write((tx) => installation.retention.removeRuns(tx, [run.id]));

    expect((await asPerson('GET', `${later}/changes-since-seen`)).body.since).toBeNull();
  });

  it('goes by the last 20 looks at a stack', async () => {
    await using fixture = await withTwo();
    const { asPerson, installation, stack } = fixture;
    const ids: string[] = [];
    for (let count = 0; count < 22; count += 1) {
      const run = await installation.addRun(stack, 'PROPOSED');
      await savePlan(installation, run, { steps: before });
      await asPerson('PUT', `/api/v1/runs/${run.id}/seen`);
      ids.push(run.id);
    }

    const seen = await Promise.all(
      ids.map(async (id) => (await asPerson('GET', `/api/v1/runs/${id}/changes-since-seen`)).body.seenAt),
    );

    expect(seen.filter((at) => at === null)).toHaveLength(2);
    expect(seen.slice(2)).not.toContain(null);
  });
});
