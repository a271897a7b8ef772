import { describe, expect, it } from 'vitest';
import { openRunWorld } from '../support/run-world.ts';

const unknown = { paths: null };
const none = 'no changed path belongs to the stack';

async function opened(changes: Record<string, readonly string[]>) {
  const world = await openRunWorld({ changes });
  const network = await world.addStack({ projectRoot: 'network' });
  const dns = await world.addStack({ projectRoot: 'dns' });
  const names = new Map([network, dns].map(({ id }, at) => [id, ['network', 'dns'][at] ?? '']));
  /** Ids of stacks as words, ids of runs left out. */
  const push = async (...input: Parameters<typeof world.push>) => {
    const notes = (await world.push(...input)).join('; ').replace(/ run \w+/g, '');
    return [...names].reduce((text, [id, name]) => text.replaceAll(id, name), notes);
  };
  return { ...world, push, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

describe('where a push does not tell what it changed, it is asked', () => {
  it('of a new branch: what it has more than the tracked one', async () => {
    await using world = await opened({ 'main...a1': ['network/x'] });
    expect(await world.push('a1', { branch: 'topic', ...unknown })).toBe(`network: PROPOSED; dns: ${none}`);
  });

  it('of a forced push to another branch: the same, whatever was there before', async () => {
    await using world = await opened({ 'main...b2': ['dns/x'], 'a1...b2': ['network/x'] });
    expect(await world.push('b2', { branch: 'topic', before: 'a1', isForced: true, ...unknown })).toBe(
      `network: ${none}; dns: PROPOSED`,
    );
  });

  it('of a forced push to the tracked branch: what came and what went', async () => {
    await using world = await opened({ 'a1...b2': ['docs/x'], 'b2...a1': ['dns/x'] });
    expect(await world.push('b2', { before: 'a1', isForced: true, ...unknown })).toBe(
      `network: ${none}; dns: TRACKED`,
    );
  });

  it('of a list at its limits: what came since', async () => {
    await using world = await opened({ 'a1...b2': ['network/x'] });
    expect(await world.push('b2', { before: 'a1', ...unknown })).toBe(`network: TRACKED; dns: ${none}`);
  });

  it.each([
    ['a new tracked branch', {}],
    ['a forced push over a commit that is gone', { before: 'gone', isForced: true }],
    ['a branch without a common commit', { branch: 'orphan' }],
  ])('and %s concerns every stack when nobody can tell', async (_title, change) => {
    await using world = await opened({});
    const type = 'branch' in change ? 'PROPOSED' : 'TRACKED';
    expect(await world.push('b2', { ...change, ...unknown })).toBe(`network: ${type}; dns: ${type}`);
  });

  it('once for each branch that stacks follow', async () => {
    await using world = await opened({ 'main...a1': ['dns/x'], 'develop...a1': ['network/x'] });
    const other = await world.addStack({ projectRoot: 'network', branch: 'develop' });
    const notes = await world.push('a1', { branch: 'topic', ...unknown });
    expect(notes).toBe(`network: ${none}; dns: PROPOSED; ${other.id}: PROPOSED`);
  });

  it('and not at all when the push tells, or has no stack', async () => {
    await using world = await openRunWorld({ sourceFails: true });
    expect(await world.push('a1', { branch: 'topic', ...unknown })).toEqual([
      'no stack belongs to the repository',
    ]);
    await world.addStack();
    expect(await world.push('a1', { branch: 'topic' })).toHaveLength(1);
    await expect(world.push('b2', { branch: 'new', ...unknown })).rejects.toThrow('GitHub does not answer');
  });
});
