import { describe, expect, it } from 'vitest';
import { changesOf } from '../../../src/runs/plan/plan-changes.ts';
import { placedChanges, treeOf } from '../../../src/runs/plan/plan-tree.ts';
import { nameOf } from '../../../src/runs/plan/resource-name.ts';
import { fc } from '../../support/fast-check.ts';
import { recordedPlan, stackStep, step, urnOf } from './plan-steps.ts';
import { addressStep, rootOutputs } from './terraform-steps.ts';

const shown = (steps: readonly unknown[]) =>
  treeOf(placedChanges(steps)).map(
    ({ urn, depth, change }) => `${'  '.repeat(depth)}${change?.op ?? '·'} ${nameOf(urn)}`,
  );

const site = { type: 'acme:index:Site' };
const inSite = { parent: urnOf('site', site.type) };

describe('the tree of a plan', () => {
  it('shows what changes below what it belongs to, and that once', () => {
    const steps = [
      stackStep,
      step('same', 'site', {}, {}, site),
      step('create', 'top', null, { a: 1 }),
      step('update', 'logs', { a: 1 }, { a: 2 }, inSite),
      step('same', 'quiet', {}, {}, inSite),
      step('delete', 'data', { a: 1 }, null, inSite),
    ];

    expect(shown(steps)).toEqual(['create top', '· site', '  update logs', '  delete data']);
  });

  it('shows components that change above their own', () => {
    const steps = [
      step('create', 'logs', null, {}, inSite),
      step('create', 'site', null, {}, site),
      stackStep,
    ];

    expect(shown(steps)).toEqual(['create site', '  create logs']);
  });

  it('shows the stack itself when its outputs change', () => {
    const stack = { ...stackStep, new: { inputs: {}, outputs: { url: 'x' }, parent: '' } };

    expect(shown([stack, step('create', 'a', null, {})])).toEqual(['outputs shop-dev', '  create a']);
  });

  it('is that of the real tool', async () => {
    const { steps } = await recordedPlan('component');

    expect(shown(steps)).toEqual(['create sample-dev', '  create all', '    create all-inner']);
  });

  it('shows modules of Terraform, which have no steps, one in the other', () => {
    const inner = 'module.net["a.b"].module.sub[0]';
    const steps = [
      addressStep('create', 'terraform_data.top', null, {}),
      addressStep(
        'create',
        'module.net["a.b"].terraform_data.one["x"]',
        null,
        {},
        { parent: 'module.net["a.b"]' },
      ),
      addressStep('same', 'module.quiet.terraform_data.one', {}, {}, { parent: 'module.quiet' }),
      addressStep('same', 'data.local_file.read', null, {}),
      addressStep('delete', `${inner}.terraform_data.two`, {}, null, { parent: inner }),
      rootOutputs({ url: 'a' }, { url: 'b' }),
    ];

    expect(shown(steps)).toEqual([
      'create terraform_data.top',
      '· module.net["a.b"]',
      '  create module.net["a.b"].terraform_data.one["x"]',
      `  · ${inner}`,
      `    delete ${inner}.terraform_data.two`,
      'outputs outputs',
    ]);
  });

  it('has every change once, whatever hangs below what', () => {
    const names = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const one = fc
      .tuple(fc.constantFrom('create', 'update', 'delete', 'same'), names, fc.option(names))
      .map(([op, name, parent]) => step(op, name, {}, {}, { parent: parent === null ? '' : urnOf(parent) }));
    fc.assert(
      fc.property(fc.array(one, { maxLength: 12 }), (steps) => {
        const changed = (all: Iterable<{ urn: string; op: string }>) =>
          [...all].map(({ urn, op }) => `${op} ${urn}`).sort();
        const placed = placedChanges(steps);
        expect(changed(placed)).toEqual(changed(changesOf(steps)));
        for (const { urn, parents } of placed) expect(parents).not.toContain(urn);
      }),
    );
  });

  it('of resources one below the other without end is drawn all the same', () => {
    const steps = Array.from({ length: 5000 }, (_, index) =>
      step('create', `r${index}`, null, {}, { parent: index === 0 ? '' : urnOf(`r${index - 1}`) }),
    );

    expect(placedChanges(steps)).toHaveLength(5000);
  });
});
