import { UserError } from '../user-error.ts';
import { checkVariable } from './environment.ts';
import { locateSettings } from './repository-file-settings.ts';
import type { StackSettings } from './stack.ts';
import {
  completeSettings,
  parseInput,
  parseVendorSettings,
  stackIdOf,
  stackSettingsInput,
} from './stack-input.ts';
import type { VendorRules } from './vendor-settings.ts';
import type { FileProblem, Position, YamlEntry, YamlNode } from './yaml-tree.ts';

/** A stack as the repository file wants it. */
export interface WantedStack {
  readonly id: string;
  /** Of its name. */
  readonly at: Position;
  readonly settings: StackSettings;
  readonly environment: readonly WantedVariable[];
}

/** Never a secret: everybody who reads the repository reads it. */
export interface WantedVariable {
  readonly name: string;
  readonly value: string;
  readonly at: Position;
}

export interface EntryRules {
  readonly vendors: readonly VendorRules[];
  /** Of the repository: the tracked branch of a stack that names none. */
  readonly defaultBranch: string;
}

/** One entry of `stacks`. What is wrong with it goes to `problems`, and then there is no stack. */
export function readEntry(node: YamlNode, rules: EntryRules, problems: FileProblem[]): WantedStack | null {
  if (node.kind !== 'map') {
    problems.push({ ...node.at, message: 'a stack must be a map that begins with "name:"' });
    return null;
  }
  const { vendors, defaultBranch } = rules;
  const settings = locateSettings(node, vendors);
  problems.push(...settings.problems);
  /** What the rules of the API refuse is shown where it stands in the file. */
  function judged<T>(judge: () => T): T | null {
    try {
      return judge();
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      problems.push(...settings.problemsOf(error));
      return null;
    }
  }
  const given = judged(() => parseInput(stackSettingsInput, settings.value));
  const id = given && judged(() => stackIdOf(given.name));
  // Of its own, so that one wrong setting does not hide the others.
  const vendor = settings.vendor && judged(() => parseVendorSettings(settings.vendor ?? {}, vendors));
  const environment = readEnvironment(
    node.entries,
    vendors.filter(({ name }) => name in (settings.vendor ?? {})),
  );
  problems.push(...environment.problems);
  if (!given || !id || !vendor) return null;
  return {
    id,
    at: settings.positionOf('name'),
    settings: completeSettings(given, vendor, defaultBranch),
    environment: environment.variables,
  };
}

function readEnvironment(entries: readonly YamlEntry[], vendors: readonly VendorRules[]) {
  const problems: FileProblem[] = [];
  const given = entries.find(({ key }) => key === 'environment')?.value;
  const isNothing = !given || (given.kind === 'scalar' && given.value === null);
  if (!isNothing && given.kind !== 'map') {
    problems.push({ ...given.at, message: 'environment must be a map of names and values' });
  }
  const variables = given?.kind === 'map' ? given.entries.flatMap((entry) => readVariable(entry) ?? []) : [];
  return { variables, problems };

  function readVariable({ key: name, at, value: node }: YamlEntry): WantedVariable | null {
    const value = textOf(node);
    if (value === null) {
      const isEmpty = node.kind === 'scalar';
      const message = isEmpty ? `${name} has no value; write "" for an empty one` : `${name} must be text`;
      problems.push({ ...(isEmpty ? at : node.at), message });
      return null;
    }
    try {
      const refusedByVendor = (other: string) => vendors.some((vendor) => vendor.refusesVariable(other));
      checkVariable({ name, value, secret: false, access: 'all' }, refusedByVendor);
      return { name, value, at };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      problems.push({ ...at, message: `environment: ${error.message}${error.hint ? ` ${error.hint}` : ''}` });
      return null;
    }
  }
}

/** A variable is text: `1.10` and `true` are taken as they are written, not as what YAML makes of them. */
function textOf(node: YamlNode): string | null {
  if (node.kind !== 'scalar' || node.value === null) return null;
  return typeof node.value === 'string' ? node.value : node.source;
}
