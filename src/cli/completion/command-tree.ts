import type { Argument, Command, Option } from 'commander';

/** What a shell may offer at one command: the tree of commands, flat, so that each shell's script is a few loops. */
export interface Place {
  /** The words that lead here; none for the program itself. */
  readonly words: readonly string[];
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OfferedOption[];
  /** What stands where no option does. */
  readonly argument: Value;
}

export interface OfferedOption {
  /** Long form and short form, as far as there are. */
  readonly flags: readonly string[];
  readonly description: string;
  /** Null: the option is a switch. */
  readonly value: Value | null;
}

/** Words to choose from; `file`: whatever is on the disk; `any`: only the person knows. */
export type Value = readonly string[] | 'file' | 'any';

export function placesOf(program: Command): readonly Place[] {
  const global = program.createHelp().visibleOptions(program).map(offered);
  return walk(program, [], global);
}

function walk(command: Command, words: readonly string[], global: readonly OfferedOption[]): Place[] {
  const help = command.createHelp();
  const children = help.visibleCommands(command);
  const isTop = words.length === 0;
  const own = help.visibleOptions(command).map(offered);
  const place: Place = {
    words,
    commands: children.map((child) => ({ name: child.name(), description: child.description() })),
    // Version is for the program alone, help is everybody's own.
    options: isTop ? own : [...own, ...global.filter(({ flags }) => flags.includes('--json'))],
    argument: valueFor(command.registeredArguments[0]),
  };
  const below = children.filter((child) => child.name() !== 'help');
  return [place, ...below.flatMap((child) => walk(child, [...words, child.name()], global))];
}

function offered(option: Option): OfferedOption {
  const flags = [option.long, option.short].filter((flag) => typeof flag === 'string');
  const takesValue = option.required || option.optional;
  return { flags, description: option.description, value: takesValue ? valueFor(option) : null };
}

/** Named after what it takes: `<file>`, `[path]`, `<dir>`. */
function valueFor(taker: Option | Argument | undefined): Value {
  if (taker?.argChoices) return taker.argChoices;
  const name = taker && 'flags' in taker ? taker.flags : (taker?.name() ?? '');
  return /\b(file|path|dir)\b/i.test(name.replace(/^.*?[<[]/, '')) ? 'file' : 'any';
}

/** The words as scripts compare them: each with a blank in front. */
export const keyOf = (words: readonly string[]): string => words.map((word) => ` ${word}`).join('');
