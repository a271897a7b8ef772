import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { UserError } from '../../user-error.ts';

/** What a Pulumi project on the disk says about itself: of its configuration the keys, never a value. */
export interface PulumiProject {
  readonly name: string;
  /** e.g. nodejs, python, go, dotnet, yaml */
  readonly runtime: string;
  /** `backend.url`; null when whoever logs in decides. */
  readonly loginUrl: string | null;
  /** That have a file of their own, by name. */
  readonly stacks: readonly PulumiStackFile[];
  /** Files beside the project file. */
  readonly files: readonly string[];
}

export interface PulumiStackFile {
  readonly name: string;
  /** How its secrets are encrypted; null when the file does not say. */
  readonly secretsProvider: string | null;
}

const projectFiles = ['Pulumi.yaml', 'Pulumi.yml', 'Pulumi.json'];
const stackFile = /^Pulumi\.(.+)\.(?:yaml|yml|json)$/;

const project = z.looseObject({
  name: z.string().min(1),
  runtime: z.union([z.string().min(1), z.looseObject({ name: z.string().min(1) })]),
  backend: z.looseObject({ url: z.string().optional() }).nullish(),
  stackConfigDir: z.string().optional(),
});

const stack = z.looseObject({
  secretsprovider: z.string().optional(),
  encryptionsalt: z.string().optional(),
});

/** Throws `project-missing` and `project-unreadable`, which name the file. */
export async function readPulumiProject(directory: string): Promise<PulumiProject> {
  const files = await namesIn(directory);
  const file = projectFiles.find((name) => files.includes(name));
  if (file === undefined) {
    throw new UserError('project-missing', `There is no Pulumi.yaml in ${directory}, nor a *.tf file.`, {
      hint: 'Name the folder of the project: slipway stack import infra/network',
    });
  }
  const { name, runtime, backend, stackConfigDir } = await read(join(directory, file), project);
  const stackDirectory = stackConfigDir === undefined ? directory : join(directory, stackConfigDir);
  return {
    name,
    runtime: typeof runtime === 'string' ? runtime : runtime.name,
    loginUrl: backend?.url || null,
    stacks: await readStacks(stackDirectory),
    files,
  };
}

async function readStacks(directory: string): Promise<readonly PulumiStackFile[]> {
  const stacks: PulumiStackFile[] = [];
  for (const file of (await namesIn(directory)).toSorted()) {
    const name = stackFile.exec(file)?.[1];
    if (name === undefined) continue;
    const { secretsprovider, encryptionsalt } = await read(join(directory, file), stack);
    const secretsProvider = secretsprovider ?? (encryptionsalt === undefined ? null : 'passphrase');
    stacks.push({ name, secretsProvider });
  }
  return stacks;
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UserError('project-missing', `The folder ${directory} cannot be read (${code}).`);
  }
}

async function read<T extends z.ZodType>(path: string, schema: T): Promise<z.output<T>> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UserError('project-unreadable', `${path} cannot be read (${error.code}).`);
  });
  const document = parseDocument(text);
  const problem = document.errors[0];
  // Of the message the first line: the rest quotes the file, which may hold what is nobody's business.
  if (problem) throw new UserError('project-unreadable', `${path}: ${problem.message.split('\n')[0]}`);
  // An empty file is a stack without configuration.
  const parsed = schema.safeParse(document.toJS() ?? {});
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UserError('project-unreadable', `${path}: ${issue?.path.join('.') ?? ''}: ${issue?.message}`);
}
