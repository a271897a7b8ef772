import { describe, expect, test } from 'vitest';
import { readApply, readPlan } from '../../../src/vendors/terraform/readings.ts';
import type { PlanResult, PlanStep } from '../../../src/worker/vendor-results.ts';
import { outputsOf, type Recording, recordings, recordingsOf } from './by-hand.ts';

type Planned = Extract<PlanResult, { kind: 'planned' }>;

function planned(recording: Recording, plan = recording.plan): Planned {
  const result = readPlan(recording.flavour, outputsOf(recording, { plan }));
  if (result.kind !== 'planned') throw new Error(`${recording.name}: ${result.message}`);
  return result;
}

const brief = ({ steps }: Planned) => steps.map(({ op, urn }) => `${op} ${urn}`);
const find = ({ steps }: Planned, urn: string): PlanStep => {
  const step = steps.find((each) => each.urn === urn);
  if (!step) throw new Error(`no step of ${urn}`);
  return step;
};
/** The plan of a recording with another change of its first resource. */
function changed(
  { plan }: Recording,
  change: (resource: Record<string, unknown>, plan: Record<string, unknown>) => void,
) {
  const json = JSON.parse(plan ?? '') as { resource_changes: Record<string, unknown>[] };
  change(json.resource_changes[0] ?? {}, json);
  return JSON.stringify(json);
}

describe('a plan of the real programs', () => {
  test.each([
    ['create', ['create terraform_data.a'], [1, 0, 0, 1]],
    ['no-change', ['same terraform_data.a'], [0, 0, 0, 1]],
    ['update', ['update terraform_data.a'], [0, 1, 0, 1]],
    ['delete', ['same terraform_data.a', 'delete terraform_data.b'], [0, 0, 1, 1]],
    [
      'replace-delete-first',
      ['delete-replaced terraform_data.a', 'create-replacement terraform_data.a'],
      [1, 0, 1, 1],
    ],
    ['tainted', ['delete-replaced terraform_data.a', 'create-replacement terraform_data.a'], [1, 0, 1, 1]],
    ['destroy-nothing', [], [0, 0, 0, 0]],
    ['output-only', ['same terraform_data.a', 'same outputs'], [0, 0, 0, 1]],
    ['moved', ['same terraform_data.b'], [0, 0, 0, 1]],
    ['moved-and-updated', ['update terraform_data.b'], [0, 1, 0, 1]],
    ['removed', ['delete terraform_data.a'], [0, 0, 1, 0]],
    ['import', ['update terraform_data.a'], [0, 1, 0, 1]],
    ['import-no-op', ['create terraform_data.a'], [1, 0, 0, 1]],
    ['deposed', ['same terraform_data.a', 'delete-replaced terraform_data.a'], [0, 0, 1, 1]],
    ['data', ['same data.terraform_remote_state.d', 'update terraform_data.a', 'same outputs'], [0, 1, 0, 1]],
    ['check', ['create terraform_data.a'], [1, 0, 0, 1]],
  ])('%s has these steps and this delta', (name, steps, [added, changedCount, deleted, resources]) => {
    for (const recording of recordingsOf(name)) {
      const result = planned(recording);
      expect([...brief(result)].sort()).toEqual([...steps].sort());
      expect(result.delta).toEqual({ added, changed: changedCount, deleted, resources });
      expect(result.hasChanges).toBe(recording.exitCode === 2);
      expect(result).toMatchObject({ planFile: 'plan.tfplan', document: { name: 'terraform' } });
    }
  });

  test('replaces first and deletes then, where the program says so, in modules', () => {
    for (const recording of recordingsOf('replace-create-first')) {
      const result = planned(recording);
      const urn = 'module.net["us\\"q]"].terraform_data.x[1]';
      expect(brief(result).filter((line) => line.endsWith(urn))).toEqual([
        `create-replacement ${urn}`,
        `delete-replaced ${urn}`,
      ]);
      expect(find(result, urn).new).toMatchObject({
        parent: 'module.net["us\\"q]"]',
        provider: 'terraform.io/builtin/terraform',
        custom: true,
        // What the configuration of the module sets, and what it does not.
        inputs: { input: '[secret]', triggers_replace: ['us"q]', 2] },
        outputs: { id: '[known after apply]' },
      });
      expect(result.marks).toContainEqual({ urn, replacedFor: ['triggers_replace'], isProtected: false });
      expect(result.delta).toEqual({ added: 4, changed: 0, deleted: 4, resources: 5 });
    }
  });

  test('tears everything down', () => {
    for (const recording of recordingsOf('destroy')) {
      const result = planned(recording);
      expect(result.delta).toEqual({ added: 0, changed: 0, deleted: 5, resources: 0 });
      expect(find(result, 'terraform_data.a')).toMatchObject({
        op: 'delete',
        new: null,
        old: { custom: true },
      });
    }
  });

  test('knows a moved resource by both names', () => {
    for (const recording of recordingsOf('moved-and-updated')) {
      expect(find(planned(recording), 'terraform_data.b')).toMatchObject({
        old: { urn: 'terraform_data.a', inputs: { input: 1 } },
        new: { urn: 'terraform_data.b', inputs: { input: 2 } },
      });
    }
  });

  test('shows what the root module gives out, before and after', () => {
    for (const recording of recordingsOf('output-only')) {
      const common = { custom: false, urn: 'outputs', type: 'terraform:outputs', inputs: {} };
      expect(find(planned(recording), 'outputs')).toMatchObject({
        old: { ...common, outputs: { o: 1 } },
        new: { ...common, outputs: { o: 2 } },
      });
    }
  });
});

describe('secrets', () => {
  test('stand in no step and nowhere in the document, wherever the program leaks them, and are named', () => {
    const names = ['secrets-create', 'secrets-same', 'secrets-update', 'replace-create-first', 'destroy'];
    for (const recording of names.flatMap(recordingsOf)) {
      expect(recording.plan).toContain('hunter22xyz');
      const { steps, document, secrets, marks } = planned(recording);
      expect(secrets).toContain('hunter22xyz');
      expect(JSON.stringify([steps, document, marks])).not.toContain('hunter22xyz');
      expect(JSON.stringify([steps, document])).toContain('ü→');
    }
    for (const recording of recordingsOf('output-only-secret')) {
      const { steps, document, secrets } = planned(recording);
      expect(secrets?.toSorted()).toEqual(['hunter22xyz', 'hunter33xyz']);
      expect(JSON.stringify([steps, document])).not.toMatch(/hunter\d/);
    }
  });

  test('that terraform_data gives out again as none are hidden all the same', () => {
    for (const recording of recordingsOf('secrets-update')) {
      expect(find(planned(recording), 'terraform_data.a').old?.outputs).toMatchObject({
        output: { list: ['p', '[secret]', 'ü→'], open: 'x', pw: '[secret]' },
      });
      expect(find(planned(recording), 'outputs').new?.outputs).toMatchObject({
        leak: 'key=[secret];',
        pw: '[secret]',
      });
    }
  });

  test('in defaults, arguments of modules and attributes of the program are hidden', () => {
    for (const recording of recordingsOf('create')) {
      const plan = changed(recording, (resource, json) => {
        const change = resource['change'] as Record<string, unknown>;
        change['after_sensitive'] = { input: true, block: [{ token: true }] };
        json['configuration'] = {
          root_module: {
            variables: { v: { default: 'constant-1', sensitive: true }, plain: { default: 'stays' } },
            outputs: { o: { sensitive: true, expression: { constant_value: 'constant-2' } } },
            resources: [
              {
                ...{ address: 'terraform_data.a', mode: 'managed', type: 'terraform_data', name: 'a' },
                expressions: {
                  input: { constant_value: 'constant-3' },
                  block: [
                    { other: { constant_value: 'stays' } },
                    { token: { constant_value: 'constant-4' } },
                  ],
                },
              },
            ],
            module_calls: {
              m: {
                expressions: { pw: { constant_value: 'constant-5' }, size: { constant_value: 'stays' } },
                module: { variables: { pw: { sensitive: true }, size: {} } },
              },
            },
          },
        };
      });
      const { document, secrets } = planned(recording, plan);
      expect(JSON.stringify(document)).not.toContain('constant-');
      expect(JSON.stringify(document).match(/"stays"/g)).toHaveLength(3);
      expect(secrets).toEqual(expect.arrayContaining([1, 2, 3, 4, 5].map((number) => `constant-${number}`)));
    }
  });

  test('in the arguments of actions are hidden', () => {
    for (const recording of recordingsOf('create')) {
      const plan = changed(recording, (_, json) => {
        json['action_invocations'] = [
          {
            ...{ address: 'action.mail.a', type: 'mail', name: 'a' },
            config_values: { token: 'tok', open: 'stays' },
            config_sensitive: { token: true },
          },
        ];
      });
      expect(planned(recording, plan).document?.content).toMatchObject({
        action_invocations: [{ config_values: { token: '[secret]', open: 'stays' } }],
      });
    }
  });

  test('make no resource unrecognisable', () => {
    for (const recording of recordingsOf('create')) {
      const plan = changed(recording, (_, json) => {
        json['variables'] = { v: { value: 'terraform_data' } };
        json['configuration'] = { root_module: { variables: { v: { sensitive: true } } } };
      });
      const { steps, document } = planned(recording, plan);
      expect(steps[0]).toMatchObject({ urn: 'terraform_data.a', type: 'terraform_data' });
      expect(document?.content).toMatchObject({
        variables: { v: { value: '[secret]' } },
        resource_changes: [{ address: 'terraform_data.a', type: 'terraform_data' }],
      });
    }
  });
});

describe('a plan', () => {
  const [sample] = recordingsOf('update');
  if (!sample) throw new Error('no sample');

  test('shows what has changed by itself as a refresh, in front', () => {
    const plan = changed(sample, (resource, json) => {
      const change = {
        ...(resource['change'] as object),
        actions: ['delete'],
        after: null,
        after_unknown: {},
      };
      json['resource_drift'] = [{ ...resource, change: { ...change, after_sensitive: false } }];
    });
    expect(brief(planned(sample, plan))).toEqual(['refresh terraform_data.a', 'update terraform_data.a']);
    expect(planned(sample, plan).steps[0]).toMatchObject({ new: null, old: { inputs: { input: 1 } } });
    expect(planned(sample, plan).delta).toMatchObject({ changed: 1, deleted: 0 });
  });

  test.each<[string, (resource: Record<string, unknown>, plan: Record<string, unknown>) => void]>([
    [
      'an action that nobody knows',
      (r) => Object.assign(r['change'] as object, { actions: ['transmogrify'] }),
    ],
    ['no mask', (r) => delete (r['change'] as Record<string, unknown>)['after_sensitive']],
    ['another format', (_, plan) => Object.assign(plan, { format_version: '2.0' })],
    ['an error', (_, plan) => Object.assign(plan, { errored: true })],
    [
      'values without end',
      (r) => Object.assign(r['change'] as object, { after: JSON.parse('['.repeat(900) + ']'.repeat(900)) }),
    ],
  ])('with %s is unreadable', (_, change) => {
    const result = readPlan(sample.flavour, outputsOf(sample, { plan: changed(sample, change) }));
    expect(result).toMatchObject({ kind: 'unreadable', hint: expect.any(String) });
  });

  test.each([
    ['', 'no JSON'],
    ['{"format_version": "1.2"', 'no JSON'],
    ['null', 'cannot be read'],
    ['[]', 'cannot be read'],
  ])('that is %j is unreadable', (plan, message) => {
    const result = readPlan(sample.flavour, outputsOf(sample, { plan }));
    expect(result).toMatchObject({ kind: 'unreadable', message: expect.stringContaining(message) });
  });

  test('and its exit code must say the same', () => {
    for (const recording of recordings.filter(({ plan }) => plan !== null)) {
      const exitCode = recording.exitCode === 2 ? 0 : 2;
      expect(readPlan(recording.flavour, outputsOf(recording, { exitCode })), recording.name).toMatchObject({
        kind: 'unreadable',
        message: expect.stringContaining('the opposite'),
      });
    }
  });

  test('that could not be made is the failure of the program', () => {
    for (const recording of recordingsOf('variable-missing')) {
      expect(readPlan(recording.flavour, outputsOf(recording))).toMatchObject({ kind: 'failed' });
    }
  });

  test('that is too large to be kept in memory is unreadable', () => {
    const [first, shown] = outputsOf(sample);
    if (!shown) throw new Error('no show');
    expect(readPlan(sample.flavour, [first, { ...shown, captured: null }])).toMatchObject({
      kind: 'unreadable',
    });
  });

  test('of too many values is not even parsed', () => {
    const [first, shown] = outputsOf(sample);
    if (!shown) throw new Error('no show');
    const captured = Buffer.from(`{"x":[${'[],'.repeat(5_000_000)}[]]}`);
    expect(readPlan(sample.flavour, [first, { ...shown, captured }])).toMatchObject({
      kind: 'unreadable',
      message: 'The plan is too large to be read.',
    });
  });
});

test('an apply is done when the program says so', () => {
  for (const recording of recordingsOf('apply-fails')) {
    const [outputs] = outputsOf(recording);
    expect(readApply(recording.flavour, outputs)).toMatchObject({ kind: 'failed' });
    expect(readApply(recording.flavour, { ...outputs, exitCode: 0 })).toEqual({ kind: 'applied' });
  }
});
