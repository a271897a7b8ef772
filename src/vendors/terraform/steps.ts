import { unknownText } from '../../runs/plan/plan-value.ts';
import type { PlanStep, ResourceMark, ResourceState } from '../../worker/vendor-results.ts';
import { createDeclarations } from './configuration.ts';
import { checkDepth, fieldOf, isTree, mapTree, type Tree } from './masks.ts';
import type { JsonChange, PlanJson } from './plan-json.ts';

export interface ReadSteps {
  readonly steps: readonly PlanStep[];
  readonly marks: readonly ResourceMark[];
}

/**
 * The steps of the specification: first what was found to have changed by itself, then what the plan does, then what it
 * gives out. `plan` holds no secrets any more. Throws TooDeepError; `unknownAction` names what nobody here knows.
 */
export function toSteps(plan: PlanJson): ReadSteps | { readonly unknownAction: string } {
  const declaredBy = createDeclarations(plan.configuration);
  const steps: PlanStep[] = [];
  const marks: ResourceMark[] = [];
  for (const drift of plan.resource_drift ?? []) steps.push(toRefresh(drift, declaredBy(drift)));
  for (const resource of plan.resource_changes ?? []) {
    const ops = opsOf(resource);
    if (ops === null) return { unknownAction: resource.change.actions.join(', ') };
    const { old, now } = statesOf(resource, declaredBy(resource));
    for (const op of ops) {
      const [before, after] = sidesOf[op];
      steps.push(toStep(resource, op, before ? old : null, after ? now : null));
    }
    const replacedFor = (resource.change.replace_paths ?? []).map(pathText);
    if (replacedFor.length > 0) marks.push({ urn: resource.address, replacedFor, isProtected: false });
  }
  const outputs = outputsStep(plan);
  return { steps: outputs === null ? steps : [...steps, outputs], marks };
}

type Op = PlanStep['op'];

/** Whether a step of that kind has a state before it, and one after it. */
const sidesOf: Record<Op, readonly [boolean, boolean]> = {
  same: [true, true],
  refresh: [true, true],
  create: [false, true],
  update: [true, true],
  delete: [true, false],
  'create-replacement': [true, true],
  'delete-replaced': [true, false],
};

const opsOfActions: Readonly<Record<string, readonly Op[]>> = {
  'no-op': ['same'],
  // Of data sources, and of what lives no longer than the command.
  read: ['same'],
  open: ['same'],
  create: ['create'],
  update: ['update'],
  delete: ['delete'],
  forget: ['delete'],
  'delete,create': ['delete-replaced', 'create-replacement'],
  'create,delete': ['create-replacement', 'delete-replaced'],
  'forget,create': ['delete-replaced', 'create-replacement'],
  'create,forget': ['create-replacement', 'delete-replaced'],
};

/** What an earlier replacement, that failed half-way, left behind. */
const opsOfDeposed: Readonly<Record<string, readonly Op[]>> = {
  'no-op': ['same'],
  delete: ['delete-replaced'],
  forget: ['delete-replaced'],
};

function opsOf({ deposed, change }: JsonChange): readonly Op[] | null {
  const actions = change.actions.join(',');
  if (deposed) return Object.hasOwn(opsOfDeposed, actions) ? (opsOfDeposed[actions] ?? null) : null;
  if (change.importing && actions === 'no-op') return ['create'];
  return Object.hasOwn(opsOfActions, actions) ? (opsOfActions[actions] ?? null) : null;
}

function toStep(
  resource: JsonChange,
  op: Op,
  old: ResourceState | null,
  now: ResourceState | null,
): PlanStep {
  const { provider_name: provider, type, address: urn } = resource;
  return { op, provider, type, urn, new: now, old };
}

function toRefresh(resource: JsonChange, declared: ReadonlySet<string> | null): PlanStep {
  const { old, now } = statesOf(resource, declared);
  return toStep(resource, 'refresh', old, now);
}

function statesOf(resource: JsonChange, declared: ReadonlySet<string> | null) {
  const { change, address, previous_address } = resource;
  const after = withUnknown(change.after, change.after_unknown);
  return {
    old: stateOf(resource, previous_address ?? address, change.before, declared),
    now: stateOf(resource, address, after, declared),
  };
}

function stateOf(
  { module_address, provider_name: provider, type }: JsonChange,
  urn: string,
  values: unknown,
  declared: ReadonlySet<string> | null,
): ResourceState | null {
  if (!isTree(values)) return null;
  const id = fieldOf(values, 'id');
  const isInput = (name: string) => declared === null || declared.has(name);
  return {
    custom: true,
    id: typeof id === 'string' && id !== unknownText ? id : '',
    inputs: pick(values, isInput),
    outputs: pick(values, (name) => !isInput(name)),
    parent: module_address ?? '',
    provider,
    type,
    urn,
  };
}

const pick = (tree: Tree, isWanted: (name: string) => boolean): Tree =>
  Object.fromEntries(Object.entries(tree).filter(([name]) => isWanted(name)));

/** `unknown` is shaped like a mask; what it marks is null in `value`, or left out. */
function withUnknown(value: unknown, unknown: unknown, depth = 0): unknown {
  checkDepth(depth);
  if (unknown === true) return unknownText;
  if (Array.isArray(unknown)) {
    const list = Array.isArray(value) ? value : [];
    const length = Math.max(list.length, unknown.length);
    if (value !== undefined && !Array.isArray(value)) return value;
    return Array.from({ length }, (_, index) => withUnknown(list[index], unknown[index], depth + 1));
  }
  if (!isTree(unknown)) return value;
  if (value !== undefined && value !== null && !isTree(value)) return value;
  const tree = isTree(value) ? value : {};
  const merged = mapTree(tree, (item, key) => withUnknown(item, fieldOf(unknown, key), depth + 1));
  const missing = Object.entries(unknown)
    .filter(([key, inner]) => !Object.hasOwn(tree, key) && hasUnknown(inner, depth + 1))
    .map(([key, inner]): [string, unknown] => [key, withUnknown(undefined, inner, depth + 1)]);
  if (!isTree(value) && missing.length === 0) return value;
  return { ...merged, ...Object.fromEntries(missing) };
}

function hasUnknown(unknown: unknown, depth: number): boolean {
  checkDepth(depth);
  if (typeof unknown !== 'object' || unknown === null) return unknown === true;
  return Object.values(unknown).some((inner) => hasUnknown(inner, depth + 1));
}

/** `["list", 0, "name"]` → `list[0].name` */
function pathText(path: readonly (string | number)[]): string {
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join('');
}

/** What the root module gives out, as one thing that is there before and after. Null when it gives out nothing. */
function outputsStep({ output_changes }: PlanJson): PlanStep | null {
  const changes = Object.entries(output_changes ?? {});
  if (changes.length === 0) return null;
  const common = {
    custom: false,
    id: '',
    inputs: {},
    parent: '',
    provider: '',
    type: 'terraform:outputs',
    urn: 'outputs',
  };
  const side = (values: [string, unknown][]): ResourceState => ({
    ...common,
    outputs: Object.fromEntries(values.filter(([, value]) => value !== undefined && value !== null)),
  });
  const old = side(changes.map(([name, { before }]) => [name, before]));
  const now = side(
    changes.map(([name, { after, after_unknown }]) => [name, withUnknown(after, after_unknown)]),
  );
  return { op: 'same', provider: '', type: common.type, urn: common.urn, new: now, old };
}
