import { fieldOf, isTree, type Tree } from './masks.ts';

/** Where a resource is declared: calls of modules by name, then the resource. Instances share it. */
export interface Declared {
  readonly module_address?: string | null | undefined;
  readonly mode: string;
  readonly type: string;
  readonly name: string;
}

/**
 * Which attributes and blocks the configuration sets, for every resource of it; null for one that it does not have (any
 * more). Pure; `configuration` is that of a plan in JSON.
 */
export function createDeclarations(
  configuration: unknown,
): (resource: Declared) => ReadonlySet<string> | null {
  const declared = new Map<string, ReadonlySet<string>>();
  for (const { key, resource } of declaredResources(fieldOf(configuration, 'root_module'), [])) {
    declared.set(key, new Set(Object.keys(asTree(fieldOf(resource, 'expressions')))));
  }
  return (resource) => declared.get(keyOf(resource)) ?? null;
}

/** The same for every instance of a resource. */
export function keyOf(resource: Declared): string {
  return keyIn(moduleNames(resource.module_address ?? ''), resource.mode, resource.type, resource.name);
}

export function keyIn(modules: readonly string[], mode: unknown, type: unknown, name: unknown): string {
  return JSON.stringify([modules, mode, type, name]);
}

/** Deeper than people nest modules. */
const maxModules = 100;

function* declaredResources(
  module: unknown,
  modules: readonly string[],
): Generator<{ key: string; resource: unknown }> {
  if (modules.length > maxModules) return;
  const resources = fieldOf(module, 'resources');
  for (const resource of Array.isArray(resources) ? resources : []) {
    const [mode, type, name] = ['mode', 'type', 'name'].map((field) => fieldOf(resource, field));
    yield { key: keyIn(modules, mode, type, name), resource };
  }
  for (const [name, call] of Object.entries(asTree(fieldOf(module, 'module_calls')))) {
    yield* declaredResources(fieldOf(call, 'module'), [...modules, name]);
  }
}

const asTree = (value: unknown): Tree => (isTree(value) ? value : {});

/** `module.net["a.b"].module.x[0]` → net, x. In a key of an instance anything may stand, a quote after a backslash. */
export function moduleNames(moduleAddress: string): readonly string[] {
  const withoutKeys = moduleAddress.replace(/\[(?:"(?:[^"\\]|\\.)*"|[^"\]]*)\]/g, '');
  return withoutKeys.split('.').filter((_, index) => index % 2 === 1);
}
