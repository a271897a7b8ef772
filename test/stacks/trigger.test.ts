import { describe, expect, it } from 'vitest';
import { type Push, selectStacks } from '../../src/stacks/trigger.ts';
import { aCommit, aStack, stackSettings } from '../support/builders.ts';

const push = (changedPaths: Push['changedPaths'], branch = 'main'): Push => ({
  ...{ repositoryId: 21, branch, head: aCommit(), pusher: 'ada@example.com', pusherLogin: 'ada' },
  ...{ changedPaths, before: null, isForced: false, pusherIsBot: false },
});
const stackOf = (projectRoot: string, ...additionalProjectGlobs: string[]) =>
  aStack({ settings: stackSettings({ projectRoot, additionalProjectGlobs }) });
const isSelected = (stack: ReturnType<typeof stackOf>, paths: Push['changedPaths']) =>
  selectStacks([stack], push(paths))[0]?.selected;

describe('a stack is started by a push', () => {
  it.each<[root: string, path: string, selected: boolean]>([
    ['infra', 'infra/main.ts', true],
    ['infra', 'infra/deep/er/main.ts', true],
    ['infra', 'infra', true],
    ['infra', 'infrastructure/main.ts', false],
    ['infra', 'infra.md', false],
    ['infra', 'other/infra/main.ts', false],
    ['infra', 'Infra/main.ts', false],
    ['infra/prod', 'infra/main.ts', false],
    ['infra/prod', 'infra/prod/main.ts', true],
    ['infra/prod', 'infra/production/main.ts', false],
    ['infra', '.github/workflows/ci.yml', false],
    ['in*', 'infra/main.ts', false],
    ['', 'README.md', true],
    ['', '.github/slipway.yml', true],
  ])('with root "%s" when %s changed: %s', (root, path, selected) => {
    expect(isSelected(stackOf(root), ['docs/unrelated.md', path])).toBe(selected || root === '');
    expect(isSelected(stackOf(root), [path])).toBe(selected);
  });

  it.each<[glob: string, path: string, selected: boolean]>([
    ['modules/**', 'modules/vpc/main.ts', true],
    ['modules/**', 'modules/.hidden/x', true],
    ['modules/**', 'my-modules/vpc', false],
    ['modules/*', 'modules/vpc/main.ts', false],
    ['**/*.yaml', 'a/b/c.yaml', true],
    ['**/*.yaml', 'c.yaml', true],
    ['*.yaml', 'a/c.yaml', false],
    ['./modules/**', 'modules/vpc', true],
    ['{modules,shared}/**', 'shared/x', true],
    ['package.json', 'package.json', true],
    ['package.json', 'infra2/package.json', false],
    ['MODULES/**', 'modules/x', false],
  ])('with glob %s when %s changed: %s', (glob, path, selected) => {
    expect(isSelected(stackOf('infra', 'never/**', glob), [path])).toBe(selected);
  });

  it('whose stored glob cannot be read', () => {
    const [selection] = selectStacks([stackOf('infra', '!docs/**')], push(['docs/a.md']));
    expect(selection).toMatchObject({
      ...{ selected: true, reason: 'the additional project glob !docs/** cannot be read' },
    });
  });

  it('when comparing all paths with its globs would take too long', () => {
    const paths = Array.from({ length: 3000 }, (_, index) => `${'a'.repeat(4000)}${index}`);
    const costly = Array.from({ length: 50 }, () => stackOf('infra', `${'*a'.repeat(490)}b`));
    const before = process.threadCpuUsage();
    const selections = selectStacks([...costly, stackOf('other')], push(paths));
    const { user, system } = process.threadCpuUsage(before);

    expect((user + system) / 1_000_000).toBeLessThan(3);
    expect(selections.map(({ selected }) => selected)).toEqual([...costly.map(() => true), false]);
    expect(selections[0]?.reason).toBe(
      'there are too many changed paths to compare all of them with its globs',
    );
  });

  it('that the repository file has added with it, on its own branch', () => {
    const select = (branch: string, newStacks: readonly string[]) =>
      selectStacks([stackOf('infra')], { ...push(['.github/slipway.yml'], branch), newStacks })[0];

    expect(select('main', ['network-prod'])).toMatchObject({
      ...{ selected: true, type: 'TRACKED', reason: 'the repository file has added the stack' },
    });
    expect(select('main', ['other'])?.selected).toBe(false);
    expect(select('topic', ['network-prod'])?.selected).toBe(false);
  });

  it('whatever changed, when the list of paths cannot be trusted', () => {
    expect(isSelected(stackOf('infra'), null)).toBe(true);
    expect(isSelected(stackOf(''), null)).toBe(true);
  });

  it('not by one that changed nothing', () => {
    expect(isSelected(stackOf(''), [])).toBe(false);
    expect(isSelected(stackOf('infra', '**'), [])).toBe(false);
  });

  it('for real on its branch, and as a preview on any other', () => {
    const stack = aStack({ settings: stackSettings({ branch: 'release/1' }) });
    const typeOn = (branch: string) => {
      const [selection] = selectStacks([stack], push(['x'], branch));
      return selection?.selected ? selection.type : null;
    };

    expect(['release/1', 'release', 'main', 'Release/1'].map(typeOn)).toEqual([
      'TRACKED',
      'PROPOSED',
      'PROPOSED',
      'PROPOSED',
    ]);
  });

  it('with a reason for each stack, in their order', () => {
    const stacks = [stackOf('infra'), stackOf(''), stackOf('web', 'infra/*.ts'), stackOf('api')];

    expect(selectStacks(stacks, push(['infra/main.ts'])).map(({ reason }) => reason)).toEqual([
      'infra/main.ts is below the project root',
      'the project root is the whole repository',
      'infra/main.ts matches an additional project glob',
      'no changed path belongs to the stack',
    ]);
  });
});
