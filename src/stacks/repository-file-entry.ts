import { UserError } from '../user-error.ts';
import { checkVariable, maxVariables } from './environment.ts';
import { type FileProblems, type Position, shownKey } from './file-problems.ts';
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
import type { YamlEntry, YamlNode } from './yaml-tree.ts';

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
export function readEntry(node: YamlNode, rules: EntryRules, problems: FileProblems): WantedStack | null {
  if (node.kind !== 'map') {
    problems.add(node.at, 'a stack must be a map that begins with "name:"');
    return null;
  }
  const { vendors, defaultBranch } = rules;
  const settings = locateSettings(node, vendors, problems);
  /** What the rules of the API refuse is shown where it stands in the file. */
  function judged<T>(judge: () => T): T | null {
    try {
      return judge();
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      settings.tell(error);
      return null;
    }
  }
  const given = judged(() => parseInput(stackSettingsInput, settings.value));
  const id = given && judged(() => stackIdOf(given.name));
  // Of its own, so that one wrong setting does not hide the others.
  const vendor = settings.vendor && judged(() => parseVendorSettings(settings.vendor ?? {}, vendors));
  const used = vendors.filter(({ name }) => name in (settings.vendor ?? {}));
  const environment = readEnvironment(node.entries, used, problems);
  if (!given || !id || !vendor) return null;
  return {
    id,
    at: settings.positionOf('name'),
    settings: completeSettings(given, vendor, defaultBranch),
    environment,
  };
}

function readEnvironment(
  entries: readonly YamlEntry[],
  vendors: readonly VendorRules[],
  problems: FileProblems,
): readonly WantedVariable[] {
  const given = entries.find(({ key }) => key === 'environment')?.value;
  if (!given || (given.kind === 'scalar' && given.value === null)) return [];
  if (given.kind !== 'map') {
    problems.add(given.at, 'environment must be a map of names and values');
    return [];
  }
  if (given.entries.length > maxVariables) {
    problems.add(given.at, `environment may have ${maxVariables} variables at most`);
    return [];
  }
  return given.entries.flatMap((entry) => readVariable(entry) ?? []);

  function readVariable({ key: name, at, value: node }: YamlEntry): WantedVariable | null {
    const value = textOf(node);
    if (value === null) {
      const isEmpty = node.kind === 'scalar';
      const wrong = isEmpty ? 'has no value; write "" for an empty one' : 'must be text';
      problems.add(isEmpty ? at : node.at, `${shownKey(name)} ${wrong}`);
      return null;
    }
    try {
      const refusedByVendor = (other: string) => vendors.some((vendor) => vendor.refusesVariable(other));
      checkVariable({ name, value, secret: false, access: 'all' }, refusedByVendor);
      return { name, value, at };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      problems.add(at, `environment: ${error.message}${error.hint ? ` ${error.hint}` : ''}`);
      return null;
    }
  }
}

/** A variable is text: `1.10` and `true` are taken as they are written, not as what YAML makes of them. */
function textOf(node: YamlNode): string | null {
  if (node.kind !== 'scalar' || node.value === null) return null;
  return typeof node.value === 'string' ? node.value : node.source;
}
