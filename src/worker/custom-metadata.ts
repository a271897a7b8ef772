import { constants } from 'node:fs';
import { open, readdir, realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { failed, type RunContext, type StepFailure } from './run-context.ts';

const ending = '.custom.slipway.json';
const maxFiles = 20;
const maxBytes = 1024 * 1024;
/** What is deeper could be read, and not be written as JSON again. */
const maxDepth = 100;

export type CustomMetadata = Readonly<Record<string, unknown>>;

/**
 * What the `*.custom.slipway.json` files beside the project say, by name: results of scanners and the like, for plan
 * policies. Repository code wrote them, so they are read like its other output: only regular files, through no link,
 * capped. One that cannot be read fails the run: a policy would take its absence for a clean result.
 */
export async function readCustomMetadata(
  context: Pick<RunContext, 'workspace' | 'projectRoot'>,
): Promise<{ readonly kind: 'read'; readonly custom: CustomMetadata } | StepFailure> {
  const directory = await hostDirectory(context);
  if (directory === null) {
    return failed(
      'project_unusable',
      'The project root is gone, or leads out of the repository, since the plan was made.',
      'A hook must leave the project where it is.',
    );
  }
  const names = (await readdir(directory)).filter((name) => name.endsWith(ending)).sort();
  if (names.length > maxFiles) {
    return unusable(`${names.length} files`, `end in ${ending}; at most ${maxFiles} are read`);
  }
  const custom: Record<string, unknown> = Object.create(null);
  for (const name of names) {
    const text = await readText(join(directory, name));
    if (text === null) return unusable(name, `is not a file of UTF-8 text of at most ${maxBytes} bytes`);
    const read = parse(text);
    if (read === null) return unusable(name, 'is not JSON');
    if (isDeeper(read.value, maxDepth)) return unusable(name, `is nested more than ${maxDepth} levels deep`);
    custom[name.slice(0, -ending.length)] = read.value;
  }
  return { kind: 'read', custom: { ...custom } };
}

/** No process of the run is left, so what is found inside the tree stays there. */
async function hostDirectory({ workspace, projectRoot }: Pick<RunContext, 'workspace' | 'projectRoot'>) {
  const { host, inside } = workspace;
  try {
    const tree = await realpath(host.tree);
    const directory = await realpath(join(tree, relative(inside.tree, projectRoot)));
    return directory === tree || directory.startsWith(`${tree}${sep}`) ? directory : null;
  } catch {
    return null;
  }
}

async function readText(path: string): Promise<string | null> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const entry = await file.stat();
    if (!entry.isFile() || entry.size > maxBytes) return null;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(entry.size), 0, entry.size, 0);
    return new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, bytesRead));
  } catch {
    return null;
  } finally {
    await file.close();
  }
}

function parse(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

const unusable = (what: string, why: string): StepFailure =>
  failed(
    'plan_unreadable',
    `${what} ${why}, so policies could not be asked.`,
    `Files that end in ${ending} are the input of policies: let the hook that writes them leave JSON, or nothing.`,
  );
