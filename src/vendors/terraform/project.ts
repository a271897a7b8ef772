import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { UserError } from '../../user-error.ts';

/** What a program of Terraform on the disk says about itself, as far as that can be seen without running the tool. */
export interface TerraformProject {
  /** The key of settings of the tool that it is written for. */
  readonly tool: 'terraform' | 'opentofu';
  /** The kind of its backend block, `cloud` for a cloud block; null when it has neither, or a state beside the program. */
  readonly backend: string | null;
}

const ofTofu = /\.tofu(?:\.json)?$/;
const ofEither = /\.(?:tf|tofu)(?:\.json)?$/;

/** Variables that the state backend is known to take, by name. */
export function neededByBackend(
  backend: string | null,
): readonly { readonly name: string; readonly why: string }[] {
  return (ofBackend[backend ?? ''] ?? []).map((name) => ({ name, why: 'the state backend' }));
}

const ofBackend: Readonly<Record<string, readonly string[] | undefined>> = {
  s3: ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_REGION'],
  gcs: ['GOOGLE_CREDENTIALS'],
  azurerm: ['ARM_CLIENT_ID', 'ARM_CLIENT_SECRET', 'ARM_TENANT_ID', 'ARM_SUBSCRIPTION_ID'],
  pg: ['PG_CONN_STR'],
  http: ['TF_HTTP_USERNAME', 'TF_HTTP_PASSWORD'],
  consul: ['CONSUL_HTTP_TOKEN'],
  cloud: ['TF_TOKEN_app_terraform_io'],
  remote: ['TF_TOKEN_app_terraform_io'],
};

/** Null when the directory has no program. Throws `project-unreadable`. Who has files of both is OpenTofu's: it reads both. */
export async function readTerraformProject(directory: string): Promise<TerraformProject | null> {
  const files = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const names = files.filter((file) => file.isFile() && ofEither.test(file.name)).map(({ name }) => name);
  if (names.length === 0 || files.some(({ name }) => /^Pulumi\.(?:ya?ml|json)$/.test(name))) return null;
  const backends = await Promise.all(names.map((name) => backendIn(join(directory, name))));
  return {
    tool: names.some((name) => ofTofu.test(name)) ? 'opentofu' : 'terraform',
    // What lies beside the program goes with the workspace of the run.
    backend: backends.find((backend) => backend !== null && backend !== 'local') ?? null,
  };
}

async function backendIn(path: string): Promise<string | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UserError('project-unreadable', `${path} cannot be read (${error.code}).`);
  });
  return path.endsWith('.json') ? backendOfJson(path, text) : backendOf(text.replace(comments, ''));
}

const comments = /\/\*.*?\*\/|(?:#|\/\/)[^\n]*/gs;

/** A block may stand alone or in a list. */
const blocks = <T extends z.ZodType>(block: T) =>
  z.union([z.array(block), block.transform((one) => [one])]).optional();
const jsonProgram = z.looseObject({
  terraform: blocks(
    z.looseObject({ backend: blocks(z.record(z.string(), z.unknown())), cloud: z.unknown().optional() }),
  ),
});

function backendOfJson(path: string, text: string): string | null {
  const { data } = jsonProgram.safeParse(parsed(path, text));
  const settings = data?.terraform ?? [];
  const kinds = settings.flatMap(({ backend = [] }) => backend.flatMap((one) => Object.keys(one)));
  return kinds[0] ?? (settings.some(({ cloud }) => cloud !== undefined) ? 'cloud' : null);
}

function parsed(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
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
