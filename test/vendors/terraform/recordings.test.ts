import { describe, expect, test } from 'vitest';
import { step as stepSchema } from '../../../src/policies/input/schemas/plan.ts';
import { opentofu, terraform } from '../../../src/vendors/terraform/flavour.ts';
import { readApply, readPlan } from '../../../src/vendors/terraform/readings.ts';
import { fc } from '../../support/fast-check.ts';
import { outputsOf, type Recording, recording, recordings } from './recordings.ts';

const title = ({ flavour, name }: Recording) => `${flavour.name}: ${name}`;
const named = (chosen: readonly Recording[]) => chosen.map((each) => [title(each), each] as const);
const ranAs = (command: string) => recordings.filter(({ commands }) => commands[0]?.argv[1] === command);

const plans = recordings.filter(({ plan }) => plan !== null);
const failedPlans = ranAs('plan').filter(({ plan }) => plan === null);
const applies = ranAs('apply');

function planOf(one: Recording, plan?: string) {
  const result = readPlan(one.flavour, outputsOf(one, plan));
  if (result.kind !== 'planned') throw new Error(`${title(one)}: ${result.message}`);
  return result;
}

// Only what these tests count by; the rest of the plan is the reader's business.
interface RawPlan {
  readonly resource_changes?: readonly { mode: string; change: { actions: string[]; importing?: unknown } }[];
  readonly planned_values?: { root_module?: RawModule };
}
interface RawModule {
  readonly resources?: readonly { mode: string }[];
  readonly child_modules?: readonly RawModule[];
}
const rawPlanOf = ({ plan }: Recording) => JSON.parse(plan ?? '') as RawPlan;

function managedIn({ resources = [], child_modules = [] }: RawModule): number {
  const inner = child_modules.reduce((sum, module) => sum + managedIn(module), 0);
  return inner + resources.filter(({ mode }) => mode === 'managed').length;
}

describe('a recorded plan', () => {
  test('is there of both programs, of the same stories', () => {
    const namesOf = (flavour: Recording['flavour']) =>
      plans.filter((each) => each.flavour === flavour).map(({ name }) => name);
    expect(namesOf(terraform).length).toBeGreaterThanOrEqual(40);
    expect(namesOf(opentofu)).toEqual(namesOf(terraform));
  });

  test.each(named(plans))('of %s has steps as policies and pages expect them', (_, one) => {
    const { steps } = planOf(one);
    // The schema strips what it does not know.
    for (const step of steps) expect(stepSchema.parse(step)).toStrictEqual(step);
    for (const { old, new: now } of steps) expect(old ?? now).not.toBeNull();
  });

  test.each(named(plans))('of %s counts what the program says it would do', (_, one) => {
    const { delta, hasChanges } = planOf(one);
    const raw = rawPlanOf(one);
    const [, , toAdd = 0, toChange = 0, toDestroy = 0] = (
      /^Plan: (?:(\d+) to import, )?(\d+) to add, (\d+) to change, (\d+) to destroy/m.exec(one.stdout) ?? []
    ).map(Number);
    const changes = raw.resource_changes ?? [];
    const imported = changes.filter(
      ({ change }) => change.importing !== undefined && change.actions.join() === 'no-op',
    );
    const forgotten = changes.filter(({ change }) => change.actions.includes('forget'));
    expect(delta).toEqual({
      added: toAdd + imported.length,
      changed: toChange,
      deleted: toDestroy + forgotten.length,
      // What is only taken out of the state still stands among the planned values.
      resources: managedIn(raw.planned_values?.root_module ?? {}) - forgotten.length,
    });
    expect(hasChanges).toBe(!/^No changes\./m.test(one.stdout));
  });

  test.each(named(plans.filter(({ plan }) => plan?.includes('hush-'))))(
    'of %s shows nothing that is marked as secret',
    (_, one) => {
      const { steps, marks, document, secrets = [] } = planOf(one);
      const shown = JSON.stringify({ steps, marks, document });
      expect(shown).not.toContain('hush-');
      expect(shown).toContain('[secret]');
      expect(secrets.filter((secret) => shown.includes(secret))).toEqual([]);
      expect(secrets.some((secret) => secret.includes('hush-'))).toBe(true);
    },
  );

  test('with secrets is there of each way they can go', () => {
    const names = plans.filter(({ plan }) => plan?.includes('hush-')).map(({ name }) => name);
    expect([...new Set(names)].length).toBeGreaterThanOrEqual(6);
  });

  test.each(named(plans))('of %s may have fields that nobody here knows', (_, one) => {
    const known = planOf(one);
    const more = JSON.parse(one.plan ?? '', (_key, value: unknown) =>
      isObjectOfTheFormat(value) ? { ...value, of_next_year: { actions: ['teleport'] } } : value,
    );
    const { steps, delta, hasChanges } = planOf(one, JSON.stringify(more));
    expect({ steps, delta, hasChanges }).toEqual({
      steps: known.steps,
      delta: known.delta,
      hasChanges: known.hasChanges,
    });
  });

  test('that ends too early is unreadable', () => {
    fc.assert(
      fc.property(fc.constantFrom(...plans), fc.double({ min: 0, max: 1, noNaN: true }), (one, share) => {
        const text = (one.plan ?? '').trimEnd();
        const cut = text.slice(0, Math.floor(share * (text.length - 1)));
        expect(readPlan(one.flavour, outputsOf(one, cut)).kind).toBe('unreadable');
      }),
    );
  });

  test('with rubbish in it is read or not, but never fails in another way', () => {
    const rubbish = fc.constantFrom<unknown>(null, true, -1, 'rubbish', [], {}, [[null]], {
      actions: 'none',
    });
    fc.assert(
      fc.property(fc.constantFrom(...plans), fc.nat(), rubbish, (one, nth, replacement) => {
        const garbled = withNth(one.plan ?? '', nth, replacement);
        expect(['planned', 'unreadable']).toContain(readPlan(one.flavour, outputsOf(one, garbled)).kind);
      }),
      { numRuns: 1000 },
    );
  });

  test('that is no text at all is unreadable', () => {
    const one = recording(terraform, 'create');
    for (const bytes of [new Uint8Array(), Uint8Array.of(0xff, 0xfe, 0), Buffer.from('null')]) {
      expect(readPlan(terraform, outputsOf(one, bytes)).kind).toBe('unreadable');
    }
  });
});

describe('a recorded failure', () => {
  test.each(named(failedPlans))('of %s says what happened', (_, one) => {
    const result = readPlan(one.flavour, outputsOf(one));
    expect(result).toMatchObject({ kind: 'failed', message: expect.stringMatching(/\S/) });
    expect(JSON.stringify(result)).not.toContain('hush-');
  });

  test.each(named(applies))('or end of the apply of %s is told apart', (_, one) => {
    const [outputs] = outputsOf(one);
    const expected =
      outputs.exitCode === 0 ? 'applied' : one.name === 'stale-plan' ? 'plan-changed' : 'failed';
    expect(readApply(one.flavour, outputs).kind).toBe(expected);
  });
});

/** Not the data of the program, where a field would be data too. */
function isObjectOfTheFormat(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return ['format_version', 'change', 'actions', 'expressions', 'root_module'].some((key) =>
    Object.hasOwn(value, key),
  );
}

/** The JSON text with its n-th value replaced, round the end. */
function withNth(text: string, nth: number, replacement: unknown): string {
  const plan: unknown = JSON.parse(text);
  let count = 0;
  JSON.stringify(plan, (_, value) => {
    count += 1;
    return value;
  });
  let at = -1;
  return JSON.stringify(plan, (_, value) => {
    at += 1;
    return at === nth % count ? replacement : value;
  });
}
