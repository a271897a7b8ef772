import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UserError } from '../../user-error.ts';

/** What a program of Terraform on the disk says about itself, as far as that can be seen without running the tool. */
export interface TerraformProject {
  /** The key of settings of the tool that it is written for. */
  readonly tool: 'terraform' | 'opentofu';
  /** The kind of its backend block, `cloud` for a cloud block; null when it has neither. */
  readonly backend: string | null;
}

const ofTofu = /\.tofu(?:\.json)?$/;
const ofEither = /\.(?:tf|tofu)(?:\.json)?$/;

/** Null when the directory has no program. Throws `project-unreadable`. Who has files of both is OpenTofu's: it reads both. */
export async function readTerraformProject(directory: string): Promise<TerraformProject | null> {
  const files = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const names = files.filter((file) => file.isFile() && ofEither.test(file.name)).map(({ name }) => name);
  if (names.length === 0) return null;
  const backends = await Promise.all(names.map((name) => backendIn(join(directory, name))));
  return {
    tool: names.some((name) => ofTofu.test(name)) ? 'opentofu' : 'terraform',
    backend: backends.find((backend) => backend !== null) ?? null,
  };
}

async function backendIn(path: string): Promise<string | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UserError('project-unreadable', `${path} cannot be read (${error.code}).`);
  });
  return backendOf(path.endsWith('.json') ? json(path, text) : text.replace(comments, ''));
}

const comments = /\/\*.*?\*\/|(?:#|\/\/)[^\n]*/gs;

function json(path: string, text: string): string {
  try {
    // As it would be written in the tool's own language, as far as it matters here.
    return JSON.stringify(JSON.parse(text)).replace(/"(terraform|backend|cloud)":\[?\{(?:("[\w-]+"):)?/g, '$1 $2 {');
  } catch {
    throw new UserError('project-unreadable', `${path}: not valid JSON.`);
  }
}

/** A look, not a parser: it finds a block that is written as people write it. */
function backendOf(text: string): string | null {
  const [, inside] = /(?:^|\s|\{|\})terraform\s*\{(.*)/s.exec(text) ?? [];
  if (inside === undefined) return null;
  const [, kind] = /(?:^|[\s{},])backend\s+"([\w-]+)"\s*\{/.exec(inside) ?? [];
  if (kind !== undefined) return kind;
  return /(?:^|[\s{},])cloud\s*\{/.test(inside) ? 'cloud' : null;
}
