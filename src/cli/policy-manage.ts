import { type Command, Option } from 'commander';
import { type PolicyKind, policyKinds } from '../policies/policy.ts';
import { connect } from './api-client.ts';
import { listAll } from './api-objects.ts';
import type { CliContext } from './context.ts';
import { usageFailure } from './failure.ts';
import { outputOf } from './output.ts';
import {
  pathOfPolicy,
  policiesPath,
  policyArgument,
  policyIdOf,
  policyObject,
  readBody,
  versionObject,
} from './policy-objects.ts';
import { describedPolicy, listedPolicies, listedVersions, savedPolicy } from './policy-text.ts';

interface ListOptions {
  readonly account?: string;
  readonly kind?: PolicyKind;
}

interface ContentOptions {
  readonly name?: string;
  readonly description?: string;
  readonly label?: readonly string[];
  readonly file?: string;
  readonly rego?: string;
}

interface CreateOptions extends ContentOptions {
  readonly kind: PolicyKind;
  readonly account?: string;
}

interface UpdateOptions extends ContentOptions {
  /** False: --no-labels. */
  readonly labels: boolean;
}

const kindOption = () => new Option('--kind <kind>', 'what it judges').choices(policyKinds);
const regoOption = () => new Option('--rego <version>', 'of the language; default: 1').choices(['0', '1']);
const repeated = (value: string, before: readonly string[] = []) => [...before, value];
const labelHelp = 'repeatable; autoattach:<label> has it judge the stacks with that label';

/** `slipway policy list|show|create|update|delete|versions` */
export function addPolicyManageCommands(policy: Command, context: CliContext): void {
  policy
    .command('list')
    .description('policies that you manage, and those of stacks that you may read')
    .option('--account <login>')
    .addOption(kindOption())
    .action(async (options: ListOptions, command: Command) => {
      await using client = await connect(context);
      const items = await listAll(client.call, policiesPath, undefined, { ...options });
      outputOf(context, command).result({ items }, () => listedPolicies(policyObject.array().parse(items)));
    });

  policy
    .command('show')
    .description('one policy, with its source')
    .argument(...policyArgument)
    .action(async (name: string, _options: unknown, command: Command) => {
      await using client = await connect(context);
      const found = await client.call('GET', pathOfPolicy(await policyIdOf(client, name)));
      outputOf(context, command).result(found, () => describedPolicy(policyObject.parse(found)));
    });

  policy
    .command('create')
    .description('make a policy of a file; it is compiled first')
    .addOption(kindOption().makeOptionMandatory())
    .requiredOption('--name <name>')
    .requiredOption('--file <path>', 'its source, in Rego')
    .option('--account <login>', 'default: that of the token, or the only one')
    .option('--description <text>')
    .option('--label <label>', labelHelp, repeated)
    .addOption(regoOption())
    .action(async ({ kind, account, ...options }: CreateOptions, command: Command) => {
      const content = await contentOf(options);
      await using client = await connect(context);
      const body = { kind, ...content, ...(account === undefined ? {} : { account }) };
      const made = await client.call('POST', policiesPath, body);
      outputOf(context, command).result(made, () => savedPolicy('Made', policyObject.parse(made)));
    });

  policy
    .command('update')
    .description('change what is given, leave the rest; another source becomes the next version')
    .argument(...policyArgument)
    .option('--name <name>')
    .option('--file <path>', 'its source, in Rego')
    .option('--description <text>')
    .option('--label <label>', `${labelHelp}; those replace what was there`, repeated)
    .option('--no-labels', 'none any more')
    .addOption(regoOption())
    .action(async (name: string, { labels, ...options }: UpdateOptions, command: Command) => {
      if (!labels && options.label) throw usageFailure('--label and --no-labels contradict each other');
      const change = { ...(await contentOf(options)), ...(labels ? {} : { labels: [] }) };
      if (Object.keys(change).length === 0)
        throw usageFailure('nothing to change', 'See `slipway policy update --help`.');
      await using client = await connect(context);
      const changed = await client.call('PUT', pathOfPolicy(await policyIdOf(client, name)), change);
      outputOf(context, command).result(changed, () => savedPolicy('Changed', policyObject.parse(changed)));
    });

  policy
    .command('delete')
    .description('delete a policy with its versions and samples; what it decided stays known')
    .argument(...policyArgument)
    .action(async (name: string, _options: unknown, command: Command) => {
      await using client = await connect(context);
      await client.call('DELETE', pathOfPolicy(await policyIdOf(client, name)));
      outputOf(context, command).result({ deleted: true }, () => `Deleted policy ${name}.`);
    });

  policy
    .command('versions')
    .description('every source that a policy had, newest first; the sources themselves with --json')
    .argument(...policyArgument)
    .action(async (name: string, _options: unknown, command: Command) => {
      await using client = await connect(context);
      const items = await listAll(client.call, `${pathOfPolicy(await policyIdOf(client, name))}/versions`);
      outputOf(context, command).result({ items }, () => listedVersions(versionObject.array().parse(items)));
    });
}

async function contentOf({ name, description, label, file, rego }: ContentOptions) {
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(label === undefined ? {} : { labels: label }),
    ...(file === undefined ? {} : { body: await readBody(file) }),
    ...(rego === undefined ? {} : { regoVersion: Number(rego) }),
  };
}
