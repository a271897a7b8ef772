import { createFileProblems, type FileProblem, type FileProblems, type Position } from './file-problems.ts';
import { type EntryRules, readEntry, type WantedStack } from './repository-file-entry.ts';
import { unknownKey } from './unknown-key.ts';
import { readYaml, type YamlEntry, type YamlNode } from './yaml-tree.ts';

export type ParsedRepositoryFile =
  | { readonly kind: 'wanted'; readonly stacks: readonly WantedStack[] }
  /** In the order of the file, one at least, and not many more than can be shown. */
  | { readonly kind: 'invalid'; readonly problems: readonly FileProblem[] };

const maxStacks = 500;

/**
 * Reads `.github/slipway.yml`: the stacks it wants, or everything that is wrong with it. Pure, and never
 * throws. What a setting may be is judged by the rules of the API (stack-input.ts); the file's form is here.
 */
export function parseRepositoryFile(bytes: Uint8Array, rules: EntryRules): ParsedRepositoryFile {
  const problems = createFileProblems();
  const root = readYaml(bytes, problems);
  const isReadable = problems.isEmpty;
  // Where the form is wrong, what follows from it is noise.
  problems.settle();
  if (root?.kind === 'map') {
    const stacks = readTop(root, problems).flatMap((item) => readEntry(item, rules, problems) ?? []);
    refuseSameIds(stacks, problems);
    if (problems.isEmpty) return { kind: 'wanted', stacks };
  } else if (isReadable) {
    const { message, ...at } = notAFile(root);
    problems.add(at, message);
  }
  return { kind: 'invalid', problems: problems.all() };
}

function notAFile(root: YamlNode | null): FileProblem {
  if (!root) return { line: 1, column: 1, message: 'the file is empty; it needs version: 1 and stacks' };
  return { ...root.at, message: 'the file must be a map with the keys version and stacks' };
}

const topKeys = ['version', 'stacks'];

/** The entries of `stacks`; none when they cannot be read. */
function readTop(root: YamlNode & { kind: 'map' }, problems: FileProblems): readonly YamlNode[] {
  const say = (at: Position, message: string) => problems.add(at, message);
  const find = (key: string) => root.entries.find((entry) => entry.key === key);
  for (const { key, at } of root.entries) {
    if (key === 'modules') say(at, 'module CI/CD is not available for Pulumi');
    else if (!topKeys.includes(key)) say(at, unknownKey(key, topKeys));
  }
  const version = find('version');
  if (!version) say(root.at, 'version is missing; write version: 1');
  else if (version.value.kind !== 'scalar' || version.value.value !== 1) {
    say(version.value.at, 'version must be 1, without quotes; this server knows no other');
  }
  const stacks = find('stacks');
  if (!stacks) say(root.at, 'stacks is missing');
  return stacks ? itemsOf(stacks, say) : [];
}

function itemsOf(
  { at, value }: YamlEntry,
  say: (at: Position, message: string) => void,
): readonly YamlNode[] {
  const isNothing = value.kind === 'scalar' && value.value === null;
  if (isNothing || (value.kind === 'list' && value.items.length === 0)) {
    say(at, 'stacks is empty; list a stack, or delete the file');
    return [];
  }
  if (value.kind !== 'list') {
    say(value.at, 'stacks must be a list: each entry begins with "- name:"');
    return [];
  }
  if (value.items.length <= maxStacks) return value.items;
  say(at, `a file may have ${maxStacks} stacks at most`);
  return [];
}

function refuseSameIds(stacks: readonly WantedStack[], problems: FileProblems): void {
  const first = new Map<string, WantedStack>();
  for (const stack of stacks) {
    const before = first.get(stack.id);
    if (!before) first.set(stack.id, stack);
    else problems.add(stack.at, `the stack ${stack.id} stands here twice, first in line ${before.at.line}`);
  }
}
