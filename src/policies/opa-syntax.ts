import { z } from 'zod';
import type { DeclaredRule } from './engine.ts';

const term = z.object({ type: z.string(), value: z.unknown() });
const module = z.object({
  package: z.object({ path: z.array(term) }),
  rules: z
    .array(
      z.object({
        location: z.object({ row: z.number() }),
        head: z.object({
          ref: z.array(term).min(1),
          key: term.optional(),
          value: term.optional(),
          args: z.array(z.unknown()).optional(),
        }),
      }),
    )
    .default([]),
});
type Head = z.infer<typeof module>['rules'][number]['head'];

export interface Syntax {
  readonly package: string;
  readonly rules: readonly DeclaredRule[];
}

/** Package and rules of a source, from what `opa parse` prints with locations; null for any other value. */
export function readSyntax(tree: unknown): Syntax | null {
  const { success, data } = module.safeParse(tree);
  if (!success) return null;
  const rules = new Map<string, DeclaredRule>();
  for (const { head, location } of data.rules) {
    if (head.args !== undefined) continue;
    const name = String(head.ref[0]?.value);
    const type = typeOf(head);
    const known = rules.get(name);
    if (known === undefined) rules.set(name, { name, line: location.row, type });
    else if (known.type !== type) rules.set(name, { ...known, type: 'unknown' });
  }
  // The first is `data`, which nobody writes.
  const path = data.package.path.slice(1).map(({ value }) => String(value));
  return { package: path.join('.'), rules: [...rules.values()] };
}

const literals: Readonly<Record<string, DeclaredRule['type']>> = {
  ...{ boolean: 'boolean', number: 'number', string: 'string', null: 'null' },
  ...{ array: 'array', arraycomprehension: 'array', set: 'set', setcomprehension: 'set' },
  ...{ object: 'object', objectcomprehension: 'object' },
};

function typeOf({ ref, key, value }: Head): DeclaredRule['type'] {
  // `a.b := 1`, `a[x] := 1` and `a[x] contains y` make an object of a.
  if (ref.length > 1) return 'object';
  if (key !== undefined) return value === undefined ? 'set' : 'object';
  // Without a value it is true.
  return value === undefined ? 'boolean' : (literals[value.type] ?? 'unknown');
}
