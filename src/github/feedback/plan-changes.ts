/** What a plan's steps do to resources, one entry for each of these. Pure; steps are JSON in the shape of the specification. */
export interface ResourceChange {
  readonly op: 'create' | 'update' | 'delete' | 'replace';
  readonly type: string;
  readonly name: string;
  /** What the program says of it; empty for what is not there. */
  readonly old: unknown;
  readonly new: unknown;
}

/** In the order of the plan, made as they are asked for. What stays, or is only read, is left out. */
export function* changesOf(steps: readonly unknown[]): Generator<ResourceChange> {
  const replaced = new Set<string>();
  for (const step of steps) {
    if (textOf(step, 'op') === 'create-replacement') replaced.add(textOf(step, 'urn'));
  }
  for (const step of steps) {
    const op = opOf(textOf(step, 'op'), replaced.has(textOf(step, 'urn')));
    if (op === null) continue;
    yield {
      op,
      type: textOf(step, 'type'),
      name: nameOf(textOf(step, 'urn')),
      old: inputsOf(step, 'old'),
      new: op === 'delete' ? {} : inputsOf(step, 'new'),
    };
  }
}

function opOf(op: string, isReplaced: boolean): ResourceChange['op'] | null {
  switch (op) {
    case 'create':
    case 'update':
    case 'delete':
      return op;
    case 'create-replacement':
      return 'replace';
    // The other half of a replacement; alone, it is what an earlier apply left behind.
    case 'delete-replaced':
      return isReplaced ? null : 'delete';
    default:
      return null;
  }
}

/** `urn:pulumi:dev::shop::aws:s3/bucket:Bucket::logs` → `logs`; the name may have colons of its own. */
function nameOf(urn: string): string {
  const [, , , ...name] = urn.split('::');
  return name.join('::') || urn;
}

function inputsOf(step: unknown, side: 'old' | 'new'): unknown {
  return fieldOf(fieldOf(step, side), 'inputs') ?? {};
}

function textOf(value: unknown, name: string): string {
  const text = fieldOf(value, name);
  return typeof text === 'string' ? text : '';
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}
