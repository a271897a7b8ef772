import { describe, expect, it } from 'vitest';
import type { MergeGroup } from '../../src/runs/merge-groups.ts';
import { aCommit } from '../support/builders.ts';
import { openRunWorld, type RunWorldOptions } from '../support/run-world.ts';
import { runsOfStack } from '../support/runs-of-stack.ts';

const branch = 'gh-readonly-queue/main/pr-7-b0';

async function opened(options: RunWorldOptions = {}) {
  const world = await openRunWorld(options);
  world.commits.set(branch, [aCommit({ hash: 'g1' })]);

  async function request(change: Partial<MergeGroup> = {}, delivery = `delivery-${world.newId()}`) {
    const by = { login: 'ada', email: 'ada@example.com' };
    const group = { repositoryId: 21, branch, head: 'g1', base: 'main', onto: 'b0', by };
    const notes = await world.mergeGroups.requested({ ...group, ...change }, delivery);
    await world.scheduler.settled();
    return notes;
  }
  async function destroy(head = 'g1') {
    const notes = await world.mergeGroups.destroyed({ repositoryId: 21, branch, head, reason: 'dequeued' });
    await world.scheduler.settled();
    return notes;
  }
  const listed = (stackKey: string) => runsOfStack(world.database, stackKey);
  const dispose = () => world[Symbol.asyncDispose]();
  return { ...world, request, destroy, listed, [Symbol.asyncDispose]: dispose };
}

const changes = { 'b0...g1': ['infra/a'] };

describe('a merge group', () => {
  it('previews its head, with secrets, for the stacks of its base that it changes', async () => {
    await using world = await opened({ changes });
    const { key } = await world.addStack({ projectRoot: 'infra' });

    const [note] = await world.request();

    const [run, ...others] = await world.listed(key);
    expect(others).toEqual([]);
    expect(note).toBe(`${key.toLowerCase()}: PROPOSED run ${run?.id}`);
    expect(run).toMatchObject({ type: 'PROPOSED', state: 'READY', branch, commit: { hash: 'g1' } });
    expect(run?.isUntrusted ?? false).toBe(false);
    expect(world.unaffected).toEqual([]);
  });

  it('is answered for every other stack of its base, whatever the stack says of such checks', async () => {
    await using world = await opened({ changes });
    const { key } = await world.addStack({ projectRoot: 'other', unaffectedChecks: false });
    const elsewhere = await world.addStack({ branch: 'release' });

    const notes = await world.request();

    const reason = 'no changed path belongs to the stack';
    expect(world.unaffected).toEqual([{ stack: key, commit: 'g1', type: 'PROPOSED', reason }]);
    expect(notes).toEqual([
      `${key.toLowerCase()}: ${reason}`,
      `${elsewhere.id}: the merge group is for main, the stack follows another branch`,
    ]);
    expect(await world.listed(key)).toEqual([]);
  });

  it('concerns every stack of its base when nobody can tell what it changes', async () => {
    await using world = await opened();
    const { key } = await world.addStack({ projectRoot: 'infra' });
    await world.request();
    expect(await world.listed(key)).toHaveLength(1);
  });

  it('makes one run, however often and in whatever order it is told', async () => {
    await using world = await opened({ changes: { ...changes, 'main...g1': ['infra/a'] } });
    const { key } = await world.addStack({ projectRoot: 'infra' });

    await world.request({ onto: 'main' }, 'the push');
    await world.request({}, 'the event');
    await world.request({}, 'the event');

    expect(await world.listed(key)).toHaveLength(1);
  });

  it('ends no preview of another branch', async () => {
    await using world = await opened({ changes });
    const { key } = await world.addStack({ projectRoot: 'x' });
    const own = await world.pushed('t1', { branch: 'topic', paths: ['x/a'] });
    await world.request();
    expect(await world.run(own)).toMatchObject({ state: 'READY' });
    expect(await world.listed(key)).toHaveLength(1);
  });

  it('starts nothing when its branch is gone by now', async () => {
    await using world = await opened({ changes });
    const { key } = await world.addStack();
    world.commits.delete(branch);
    expect(await world.request()).toEqual([`g1 is not on ${branch} any more`]);
    expect(await world.listed(key)).toEqual([]);
  });

  it('is told again when GitHub cannot be asked', async () => {
    await using world = await opened({ changes, sourceFails: true });
    await world.addStack();
    await expect(world.request()).rejects.toThrow('GitHub does not answer');
  });

  it('of a repository without stacks is nobody’s business', async () => {
    await using world = await opened();
    expect(await world.request()).toEqual(['no stack belongs to the repository']);
  });
});

describe('a merge group that is gone', () => {
  it('ends its previews, and no others', async () => {
    await using world = await opened({ changes });
    const { key, id } = await world.addStack({ projectRoot: 'infra' });
    await world.request();
    const [run] = await world.listed(key);
    const own = await world.pushed('t1', { branch: 'topic', paths: ['infra/a'] });

    expect(await world.destroy('another head')).toEqual(['no preview of the group was under way']);
    expect(await world.destroy()).toEqual([`${id}: run ${run?.id} is CANCELED`]);
    expect(await world.destroy()).toEqual(['no preview of the group was under way']);

    expect(await world.run(run?.id ?? '')).toMatchObject({
      ...{ state: 'CANCELED', outcome: 'merge_group_destroyed' },
      note: 'the merge group is gone: dequeued',
    });
    expect(await world.run(own)).toMatchObject({ state: 'READY' });
  });

  it('is previewed anew when it is there again', async () => {
    await using world = await opened({ changes });
    const { key } = await world.addStack({ projectRoot: 'infra' });
    await world.request();
    await world.destroy();
    await world.request();
    expect((await world.listed(key)).map(({ state }) => state)).toEqual(['READY', 'CANCELED']);
  });
});
