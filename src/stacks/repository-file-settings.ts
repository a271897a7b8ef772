import { z } from 'zod';
import type { UserError } from '../user-error.ts';
import type { FileProblems, Position } from './file-problems.ts';
import { hookNames } from './stack.ts';
import { stackSettingsInput } from './stack-input.ts';
import { unknownKey } from './unknown-key.ts';
import type { VendorRules } from './vendor-settings.ts';
import type { YamlNode } from './yaml-tree.ts';

/** An entry of the file as the API's input, and the way back from a field of that to its line. */
export interface LocatedSettings {
  /** In camel case, without unknown keys and without `environment`. */
  readonly value: Readonly<Record<string, unknown>>;
  /** Null when it is missing or no map: then the rules for `value` say so. */
  readonly vendor: Readonly<Record<string, unknown>> | null;
  /** Of a field of the API's input, e.g. `vendor.pulumi.loginUrl`; of what it would stand in when it is missing. */
  positionOf(path: string): Position;
  /** Makes problems of what the rules of the API refuse. */
  tell(error: UserError): void;
}

const settingNames = Object.keys(stackSettingsInput.shape);

export function locateSettings(
  entry: YamlNode & { kind: 'map' },
  vendors: readonly VendorRules[],
  problems: FileProblems,
): LocatedSettings {
  const nodes = new Map<string, YamlNode>();

  /** `path` is null below a map whose keys are free: what is wrong there is said at the map. */
  function read(node: YamlNode, path: string | null): unknown {
    if (path !== null) nodes.set(path, node);
    if (node.kind === 'scalar') return node.value;
    if (node.kind === 'list') return node.items.map((item, index) => read(item, join(path, String(index))));
    const names = path === null ? null : namesAt(path, vendors);
    const below = names ? path : null;
    const fields = node.entries.flatMap(({ key, at, value }) => {
      const name = names ? names.find((known) => snakeCase(known) === key) : key;
      if (name !== undefined) return [[name, read(value, join(below, name))] as const];
      if (path === '' && key === 'environment') return [];
      const known = [...(names ?? []).map(snakeCase), ...(path === '' ? ['environment'] : [])];
      problems.add(at, () => unknownKey(key, known));
      return [];
    });
    return Object.fromEntries(fields);
  }

  const value = read(entry, '') as Record<string, unknown>;
  const isMap = nodes.get('vendor')?.kind === 'map';

  function positionOf(path: string): Position {
    for (let at = path; at !== ''; at = at.slice(0, Math.max(at.lastIndexOf('.'), 0))) {
      const node = nodes.get(at);
      if (node) return node.at;
    }
    return entry.at;
  }

  return {
    value,
    vendor: isMap ? (value['vendor'] as Record<string, unknown>) : null,
    positionOf,
    tell({ issues, hint }) {
      for (const { path, message } of issues) {
        const said = () =>
          `${shownPath(path)} ${wording(nodes.get(path), message)}${hint ? `. ${hint}` : ''}`;
        problems.add(positionOf(path), said);
      }
    },
  };
}

/** The names, in camel case, that a map at that path may have; null where any will do. */
function namesAt(path: string, vendors: readonly VendorRules[]): readonly string[] | null {
  if (path === '') return settingNames;
  if (path === 'hooks') return hookNames;
  if (path === 'vendor') return vendors.map(({ name }) => name);
  const schema = vendors.find(({ name }) => path === `vendor.${name}`)?.schema;
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : null;
}

function join(path: string | null, name: string): string | null {
  if (path === null) return null;
  return path === '' ? name : `${path}.${name}`;
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** `hooks.beforeInit.0` → `hooks.before_init[0]` */
const shownPath = (path: string): string => snakeCase(path).replace(/\.(\d+)/g, '[$1]');

/** `message` speaks of JSON, and of fields that may not be there. */
function wording(node: YamlNode | undefined, message: string): string {
  if (!node) return 'is missing';
  if (node.kind === 'scalar' && node.value === null) return 'has no value';
  const isBare = node.kind === 'scalar' && typeof node.value !== 'string';
  if (isBare && message.includes('expected string')) return 'must be text; put it in quotes';
  const isQuoted = node.kind === 'scalar' && /^(true|false)$/i.test(String(node.value));
  if (isQuoted && message.includes('expected boolean')) return 'must be true or false, without quotes';
  const [, expected] = /^Invalid input: expected (\w+)/.exec(message) ?? [];
  if (expected !== undefined) return `must be ${yamlWords[expected] ?? expected}`;
  return `is not right: ${message}`;
}

const yamlWords: Readonly<Record<string, string>> = {
  array: 'a list',
  object: 'a map',
  record: 'a map',
  string: 'text',
  boolean: 'true or false',
};
