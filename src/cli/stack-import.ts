import type { Command } from 'commander';
import { stringify } from 'yaml';
import { withoutCredentials } from '../config/github.ts';
import { readConfig } from '../config.ts';
import type { FoundProject } from '../project-import.ts';
import { type ApiClient, connect } from './api-client.ts';
import { stackObject } from './api-objects.ts';
import type { CliContext } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { CliFailure, usageFailure } from './failure.ts';
import { fields, oneLine, outputOf, table } from './output.ts';

interface ImportFlags {
  readonly stackName?: readonly string[];
  readonly loginUrl?: string;
  readonly workspace?: readonly string[];
  readonly stateUrl?: string;
  readonly repository?: string;
  readonly remote: string;
  readonly dryRun?: boolean;
  readonly yaml?: boolean;
}

/** A stack as the API is asked for it. */
interface NewStack {
  readonly name: string;
  readonly repository: string;
  readonly projectRoot: string;
  readonly vendor: Readonly<Record<string, unknown>>;
  readonly hooks?: { readonly beforeInit: readonly string[] };
}

const help = `
Of Pulumi nothing is read but Pulumi.yaml, Pulumi.<stack>.yaml and the remote of the clone, of Terraform and OpenTofu nothing but the
*.tf and *.tofu files of the folder, for their backend block. The configuration of the stacks stays where it is: runs read it from
the repository. Variables that runs will need are named, and set with \`slipway stack env set\`.`;

/** `slipway stack import`: a stack for each of a Pulumi project in a clone, or of the workspaces of a program of Terraform. */
export function addImportCommand(stack: Command, context: CliContext): void {
  const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];
  stack
    .command('import')
    .description('make stacks of a project of Pulumi, Terraform or OpenTofu in a clone')
    .argument('[dir]', 'where its Pulumi.yaml is, or its *.tf files are', '.')
    .option(
      '--stack-name <name>',
      'Pulumi: only this one; as Pulumi calls it, e.g. acme/network/prod; repeatable',
      collect,
    )
    .option('--login-url <url>', 'Pulumi: where the state is; default: backend.url of the project')
    .option('--workspace <name>', 'Terraform, OpenTofu: a stack for this one; repeatable', collect)
    .option('--state-url <url>', 'Terraform, OpenTofu: file:///state/<name> for a program without a backend')
    .option('--repository <owner/name>', 'default: what the remote says')
    .option('--remote <name>', 'the git remote that leads to GitHub', 'origin')
    .option('--dry-run', 'say what would be made')
    .option('--yaml', 'print it for .github/slipway.yml instead')
    .addHelpText('after', help)
    .action(async (directory: string, flags: ImportFlags, command: Command) => {
      if (flags.yaml && flags.dryRun) throw usageFailure('--yaml and --dry-run exclude each other');
      const output = outputOf(context, command);
      const config = readConfig(withoutCredentials(context.environment()));
      const { stackName: stackNames, workspace: workspaces, dryRun, yaml, ...question } = flags;
      const project = await context.findProject(config, {
        ...{ ...question, directory },
        ...(stackNames === undefined ? {} : { stackNames }),
        ...(workspaces === undefined ? {} : { workspaces }),
      });
      const stacks = stacksOf(project);
      const { variables } = project;
      if (yaml) {
        const text = yamlOf(stacks);
        output.result({ yaml: text, variables }, () => text.trimEnd());
      } else if (dryRun) {
        output.result({ stacks, variables }, () => described(stacks));
      } else {
        await using client = await connect(context);
        const made = await makeAll(client, stacks);
        output.result({ ...made, variables }, () => told(made));
        if (made.created.length === 0) {
          throw new CliFailure(exitCodes.conflict, '');
        }
      }
      for (const { name, why } of variables) output.next(`slipway stack env set <stack> ${name}, for ${why}`);
    });
}

function stacksOf({ repository, projectRoot, stacks, beforeInit }: FoundProject): readonly NewStack[] {
  const hooks = beforeInit.length === 0 ? {} : { hooks: { beforeInit } };
  return stacks.map((stack) => ({ ...stack, repository, projectRoot, ...hooks }));
}

interface Made {
  readonly created: readonly string[];
  /** Names of stacks that there are already. */
  readonly existing: readonly string[];
}

/** One after the other; what the server refuses for another reason ends it, and what was made stays. */
async function makeAll(client: ApiClient, stacks: readonly NewStack[]): Promise<Made> {
  const created: string[] = [];
  const existing: string[] = [];
  for (const stack of stacks) {
    try {
      const { account, id } = stackObject.parse(await client.call('POST', '/api/v1/stacks', stack));
      created.push(`${account}/${id}`);
    } catch (error) {
      if (!(error instanceof CliFailure) || error.json['code'] !== 'stack-exists') throw error;
      existing.push(stack.name);
    }
  }
  return { created, existing };
}

function told({ created, existing }: Made): string {
  return [
    ...created.map((name) => `Created ${name}.`),
    ...existing.map((name) => `There is a stack ${oneLine(name)} already; it is left as it is.`),
  ].join('\n');
}

function described(stacks: readonly NewStack[]): string {
  const [first] = stacks;
  const head = fields([
    ['repository', first?.repository],
    ['root', first?.projectRoot || '.'],
    ['beforeInit', first?.hooks?.beforeInit.join('; ')],
  ]);
  const rows = stacks.map(({ name, vendor }) => {
    const [[tool, settings] = ['', {}]] = Object.entries(vendor);
    const said = Object.entries(settings as object).map(([key, value]) => `${key}=${value}`);
    return [name, tool, said.join(' ')];
  });
  return `${head}\n\n${table(['NAME', 'TOOL', 'SETTINGS'], rows)}`;
}

/** The file writes names with underscores, and knows its repository. */
function yamlOf(stacks: readonly NewStack[]): string {
  const entries = stacks.map(({ repository, ...stack }) => inFile(stack));
  return stringify({ version: 1, stacks: entries });
}

function inFile(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inFile);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== '');
  return Object.fromEntries(
    entries.map(([name, each]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      inFile(each),
    ]),
  );
}
