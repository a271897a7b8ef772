import { type Command, Option } from 'commander';
import { vendorRules } from '../vendor-rules.ts';
import { usageFailure } from './failure.ts';

/** The tool of a stack and its settings as flags; those of the fields stand under their names. */
export interface VendorFlags {
  readonly tool?: string;
  readonly vendor?: string;
  readonly [field: string]: unknown;
}

type VendorRules = (typeof vendorRules)[number];
type VendorField = VendorRules['fields'][number];
type Settings = Readonly<Record<string, unknown>>;

/** Settings of a tool as the API has them: `{ terraform: { workspace } }`. */
export type VendorBody = Readonly<Record<string, Settings>>;

const names = vendorRules.map(({ name }) => name);
const fieldNames = [...new Set(vendorRules.flatMap(({ fields }) => fields.map(({ name }) => name)))];

/** A flag for each setting of each tool. Tools with a setting of the same name share its flag. */
export function withVendorFlags(command: Command): Command {
  command.addOption(
    new Option('--tool <tool>', 'what it is run with; needed where the other flags leave it open').choices(
      names,
    ),
  );
  for (const name of fieldNames) {
    const having = vendorRules.filter((rules) => fieldOf(rules, name));
    const [first] = having;
    const field = first && fieldOf(first, name);
    if (!field) continue;
    const tools = having.map(({ label }) => label).join(', ');
    command.option(`${flagOf(name)} <text>`, `${tools}: ${field.label}, e.g. ${field.example}`);
  }
  return command.option('--vendor <json>', 'the tool and its settings as JSON, instead of these flags');
}

/** True when a flag says anything about the tool. */
export function saysVendor(flags: VendorFlags): boolean {
  return flags.vendor !== undefined || flags.tool !== undefined || Object.keys(givenIn(flags)).length > 0;
}

/**
 * What the flags say of the tool, over what the stack has `now`, if there is one. A setting that may be left out goes with
 * "". Undefined when they say nothing of it.
 */
export function vendorOf(flags: VendorFlags, now?: VendorBody): unknown {
  if (!saysVendor(flags)) return undefined;
  if (flags.vendor !== undefined) return parsed(flags.vendor);
  const given = givenIn(flags);
  const rules = toolOf(flags.tool, Object.keys(given), now);
  const unknown = Object.keys(given).find((name) => !fieldOf(rules, name));
  if (unknown !== undefined) throw usageFailure(`${flagOf(unknown)} is no setting of ${rules.label}`);
  const all = Object.entries({ ...now?.[rules.name], ...given });
  const settings = Object.fromEntries(all.filter(([name, value]) => !isLeftOut(rules, name, value)));
  const missing = rules.fields.filter(({ name, isOptional }) => !isOptional && settings[name] === undefined);
  if (missing.length > 0) {
    const flagsOfThem = missing.map(({ name }) => flagOf(name)).join(' and ');
    throw usageFailure(`${rules.label} needs ${flagsOfThem}`);
  }
  return { [rules.name]: settings };
}

function toolOf(
  tool: string | undefined,
  given: readonly string[],
  now: VendorBody | undefined,
): VendorRules {
  const possible = vendorRules.filter((rules) =>
    tool === undefined ? given.every((name) => fieldOf(rules, name)) : rules.name === tool,
  );
  const current = possible.find(({ name }) => now && name in now);
  const found = current ?? (possible.length === 1 ? possible[0] : undefined);
  if (found) return found;
  if (possible.length === 0)
    throw usageFailure(`${given.map(flagOf).join(' and ')} belong to different tools`);
  throw usageFailure(
    `--tool is missing: ${given.map(flagOf).join(' and ')} may be meant for each of ${possible.map(({ name }) => name).join(', ')}`,
  );
}

function isLeftOut(rules: VendorRules, name: string, value: unknown): boolean {
  return value === null || (value === '' && fieldOf(rules, name)?.isOptional === true);
}

function givenIn(flags: VendorFlags): Settings {
  const given = fieldNames.filter((name) => flags[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, flags[name]]));
}

const fieldOf = ({ fields }: VendorRules, name: string): VendorField | undefined =>
  fields.find((field) => field.name === name);

/** `backendConfigFile` → `--backend-config-file` */
const flagOf = (name: string): string =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw usageFailure('--vendor: not valid JSON', 'For example {"terraform":{"workspace":"prod"}}');
  }
}
