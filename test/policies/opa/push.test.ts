import { describe, expect, it } from 'vitest';
import { openPushWorld } from '../push-world.ts';

describe('policies evaluated by the real opa', () => {
  it('decide what a push starts, and give their flags to the run', async () => {
    await using world = await openPushWorld();
    const policy = await world.addPolicy(
      'deploys',
      `track if input.push.branch == input.stack.branch
       propose if {
         input.push.branch != input.stack.branch
         some file in input.push.affected_files
         startswith(file, "infra/")
       }
       flag contains "infra" if "infra/x" in input.push.affected_files`,
    );

    const [deploy = ''] = await world.push('a1', { paths: ['infra/x'] });
    const [preview = ''] = await world.push('b2', { branch: 'topic', paths: ['infra/y'] });
    const other = await world.push('c3', { branch: 'topic', paths: ['docs/x'] });

    const [, id = ''] = /TRACKED run (\w+)$/.exec(deploy) ?? [];
    expect(preview).toContain('PROPOSED run');
    expect(other).toEqual([expect.stringContaining('no rule of the push policies wants a run')]);
    expect(await world.flags.of(id)).toEqual(['infra']);
    expect(await world.decisions.ofRun(id)).toMatchObject([
      {
        policy: { id: policy.id },
        outcome: 'tracked',
        subject: 'the push of a1 to main',
        stackKey: world.stack.key,
      },
    ]);
    const all = await world.decisions.list({ stackKey: world.stack.key, before: null, limit: 10 });
    expect(all.map(({ outcome, runId }) => [outcome, runId === null])).toEqual([
      ['undecided', true],
      ['proposed', false],
      ['tracked', false],
    ]);
  });

  it('name runs that are under way to be canceled', async () => {
    await using world = await openPushWorld();
    await world.addPolicy(
      'newest only',
      `track := true
       cancel contains run.id if {
         some run in input.in_progress
         run.type == "TRACKED"
         run.state == "QUEUED"
       }`,
    );
    await world.push('a1');
    const waiting = await world.pushed('b2');
    await world.push('c3');
    expect((await world.run(waiting)).state).toBe('CANCELED');
  });

  it.each([
    ['a conflict', 'track := input.push.branch == "main"\ntrack := input.push.branch == "x"'],
    ['a wrong type', 'track := "yes"'],
    ['a failing built-in', 'track if to_number(input.push.branch) > 1'],
  ])('start nothing with %s: the commit shows a failed check', async (_, body) => {
    await using world = await openPushWorld();
    await world.addPolicy('wants', 'track := true');
    await world.addPolicy('broken', body);

    expect(await world.push('a1')).toEqual([expect.stringContaining('cannot be judged')]);
    const messages = [expect.stringMatching(/^push policy broken could not be evaluated: ./)];
    expect(world.unaffected).toMatchObject([{ commit: 'a1', policies: { isFailure: true, messages } }]);
    const all = await world.decisions.list({ stackKey: world.stack.key, before: null, limit: 10 });
    expect(all.map(({ outcome }) => outcome).toSorted()).toEqual(['failed', 'tracked']);
  });

  it('start nothing without an engine', async () => {
    await using world = await openPushWorld({ withoutOpa: true });
    await world.addPolicy('deploys', 'track := true');
    expect(await world.push('a1')).toEqual([expect.stringContaining('cannot be judged')]);
    expect(world.unaffected).toMatchObject([{ policies: { isFailure: true } }]);
  });

  it('are twenty on one push, each of them recorded', async () => {
    await using world = await openPushWorld();
    for (let count = 0; count < 20; count += 1) await world.addPolicy(`p${count}`, `track if ${count} == 7`);

    const id = await world.pushed('a1');

    expect((await world.run(id)).type).toBe('TRACKED');
    expect(await world.decisions.ofRun(id)).toHaveLength(20);
  });

  it('leave no decision when the server ends meanwhile', async () => {
    await using world = await openPushWorld();
    await world.addPolicy('deploys', 'track := true');
    world.end();
    await expect(world.push('a1')).rejects.toThrow();
    expect(await world.decisions.list({ before: null, limit: 10 })).toEqual([]);
  });
});
