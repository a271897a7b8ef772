/** The sample programs as files of a repository, in the versions that the story pushes. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type Files = Record<string, string>;

/** A text of a program, and what it becomes. */
export type Edit = readonly [from: string, to: string];

const folder = fileURLToPath(new URL('programs', import.meta.url));

/** Secrets that stand in the programs of the story themselves, as `fn::secret` and `pulumi.secret`. */
export const programSecrets = ['correct-horse-battery-staple', 'demo-token-4f8b1c', 'demo-token-27f4ce'];

/** What is left where somebody tried a program in place. */
const leftovers = new Set(['node_modules', 'venv', '__pycache__', '.terraform']);

/** Of one program, by their paths below demo/programs. */
export async function filesOf(program: string): Promise<Files> {
  const files: Files = {};
  for (const entry of await readdir(join(folder, program), { withFileTypes: true })) {
    const path = `${program}/${entry.name}`;
    if (entry.isFile()) files[path] = await readFile(join(folder, path), 'utf8');
    if (entry.isDirectory() && !leftovers.has(entry.name)) Object.assign(files, await filesOf(path));
  }
  return files;
}

export async function firstVersion(): Promise<Files> {
  return { ...(await filesOf('yaml')), ...(await filesOf('javascript')) };
}

/** For a stack of Terraform or OpenTofu. */
export const terraformProgram = (): Promise<Files> => filesOf('terraform');

/** A replacement and an update in one, an update in the other. */
export async function secondVersion(): Promise<Files> {
  const files = await firstVersion();
  return {
    'yaml/Pulumi.yaml': changed(files, 'yaml/Pulumi.yaml', [
      ['postgres-17', 'postgres-18'],
      ['shop:1.0.0', 'shop:1.1.0'],
    ]),
    'javascript/index.js': changed(files, 'javascript/index.js', [["label: 'green'", "label: 'teal'"]]),
  };
}

/** Touches both projects, and no resource of them. */
export const thirdVersion: Files = {
  'yaml/README.md': 'A small network, as values only.\n',
  'javascript/README.md': 'Two subnets from a provider of our own.\n',
};

/** One resource less, and nothing else. */
export async function withoutService(): Promise<Files> {
  const path = 'yaml/Pulumi.yaml';
  const before = (await secondVersion())[path] ?? '';
  const resource = /^ {2}service:\n(?: {4}.*\n)+/m.exec(before)?.[0] ?? '  service:';
  return {
    [path]: changed({ [path]: before }, path, [
      [resource, ''],
      [`  service: \${service.image}\n`, ''],
    ]),
  };
}

/** The file with each text replaced where it stands first; throws where it does not. */
export function changed(files: Files, path: string, edits: readonly Edit[]): string {
  let text = files[path] ?? '';
  for (const [from, to] of edits) {
    if (!text.includes(from)) throw new Error(`${path} no longer has "${from}"`);
    // As a function: what a person writes may have a `$&`.
    text = text.replace(from, () => to);
  }
  return text;
}
