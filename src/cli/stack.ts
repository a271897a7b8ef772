import type { Command } from 'commander';
import type { z } from 'zod';
import { connect } from './api-client.ts';
import { listAll, stackObject } from './api-objects.ts';
import type { CliContext } from './context.ts';
import { usageFailure } from './failure.ts';
import { fields, outputOf, table, time } from './output.ts';
import { stackArgument, stackPathOf } from './stack-name.ts';
import { type StackFlags, stackBody, withStackFlags } from './stack-settings.ts';
import { saysVendor } from './vendor-flags.ts';

/** `slipway stack ...`; its environment is in stack-environment.ts. */
export function addStackCommands(stack: Command, context: CliContext): void {
  stack
    .command('list')
    .description('stacks that you may see')
    .action(async (_options: unknown, command: Command) => {
      await using client = await connect(context);
      const output = outputOf(context, command);
      const items = await listAll(client.call, '/api/v1/stacks');
      output.result({ items }, () => listed(stackObject.array().parse(items)));
      if (items.length === 0) output.next('slipway stack create --help');
    });

  withStackFlags(stack.command('create').description('make a stack').argument('<name>'))
    .requiredOption('--repository <owner/name>', 'where the GitHub App is installed')
    .action(async (name: string, flags: StackFlags & { repository: string }, command: Command) => {
      const body = { ...stackBody(flags), name, repository: flags.repository };
      if (!('vendor' in body)) {
        throw usageFailure(
          'the tool and its settings are missing',
          'To begin: --login-url file:///state --stack-name dev, or --tool terraform --state-url file:///state/net',
        );
      }
      await using client = await connect(context);
      const output = outputOf(context, command);
      const made = await client.call('POST', '/api/v1/stacks', body);
      const { account, id } = stackObject.parse(made);
      output.result(made, () => `Created ${account}/${id}.`);
      output.next(`slipway run trigger ${account}/${id}, or push to the repository`);
    });

  stack
    .command('show')
    .description('settings, state and lock of a stack')
    .argument(...stackArgument)
    .action(async (name: string, _options: unknown, command: Command) => {
      await using client = await connect(context);
      const found = await client.call('GET', await stackPathOf(client, name));
      outputOf(context, command).result(found, () => described(stackObject.parse(found)));
    });

  withStackFlags(
    stack
      .command('update')
      .description('change what is given, leave the rest')
      .argument(...stackArgument),
  )
    .option('--name <name>', 'its id stays')
    .action(async (name: string, flags: StackFlags, command: Command) => {
      const isEmpty = !saysVendor(flags) && Object.keys(stackBody(flags)).length === 0;
      if (isEmpty) throw usageFailure('nothing to change', 'See `slipway stack update --help`.');
      await using client = await connect(context);
      const path = await stackPathOf(client, name);
      // A setting is changed among those of its tool, which the API takes as a whole.
      const now = saysVendor(flags) ? stackObject.parse(await client.call('GET', path)).vendor : undefined;
      const changed = await client.call('PATCH', path, stackBody(flags, now));
      outputOf(context, command).result(changed, () => described(stackObject.parse(changed)));
    });

  stack
    .command('delete')
    .description('delete a stack with its runs, webhooks and environment; what it deployed stays')
    .argument(...stackArgument)
    .option('--yes', 'really')
    .action(async (name: string, options: { yes?: boolean }, command: Command) => {
      if (!options.yes) {
        throw usageFailure(
          'deleting a stack cannot be undone',
          'Say --yes. What it deployed stays: see DESTROY runs.',
        );
      }
      await using client = await connect(context);
      const path = await stackPathOf(client, name);
      await client.call('DELETE', path);
      outputOf(context, command).result({ deleted: true }, () => `Deleted ${name}.`);
    });

  stack
    .command('lock')
    .description('keep everybody else from starting runs')
    .argument(...stackArgument)
    .option('--note <text>', 'why')
    .action(async (name: string, options: { note?: string }, command: Command) => {
      await using client = await connect(context);
      await client.call('PUT', `${await stackPathOf(client, name)}/lock`, options);
      const output = outputOf(context, command);
      output.result({ locked: true }, () => `Locked ${name}.`);
      output.next(`slipway stack unlock ${name}`);
    });

  stack
    .command('unlock')
    .description('take the lock away')
    .argument(...stackArgument)
    .action(async (name: string, _options: unknown, command: Command) => {
      await using client = await connect(context);
      await client.call('DELETE', `${await stackPathOf(client, name)}/lock`);
      outputOf(context, command).result({ locked: false }, () => `${name} is not locked.`);
    });
}

type Stack = z.infer<typeof stackObject>;

function listed(stacks: readonly Stack[]): string {
  if (stacks.length === 0) return 'No stacks yet.';
  return table(
    ['STACK', 'STATE', 'REPOSITORY', 'BRANCH', 'ROOT', 'LOCKED BY'],
    stacks.map((stack) => [
      `${stack.account}/${stack.id}`,
      stack.state,
      stack.repository,
      stack.branch,
      stack.projectRoot || '.',
      stack.lock?.holder ?? '',
    ]),
  );
}

function described(stack: Stack): string {
  const [[vendor, settings] = ['', {}]] = Object.entries(stack.vendor);
  const hooks = Object.entries(stack.hooks).flatMap(([name, commands]) =>
    commands.map((command) => [name, command] as const),
  );
  const on = Object.entries({
    autodeploy: stack.autodeploy,
    'plan binding': stack.planBinding,
    promotion: stack.promotion,
    'public details': stack.publicDetails,
    'pull requests of forks': stack.allowForks,
    'checks of unaffected commits': stack.unaffectedChecks,
  });
  return fields([
    ['stack', `${stack.account}/${stack.id}`],
    ['name', stack.name],
    ['description', stack.description],
    ['labels', stack.labels.join(', ')],
    ['state', stack.state],
    [
      'lock',
      stack.lock ? `${stack.lock.holder} since ${time(stack.lock.since)}: ${stack.lock.reason}` : undefined,
    ],
    ['repository', stack.away ? `${stack.repository} (${stack.away}: nothing starts)` : stack.repository],
    ['managed by', stack.managedBy === 'file' ? '.github/slipway.yml of the repository' : undefined],
    ['branch', stack.branch],
    ['root', stack.projectRoot || '.'],
    ['globs', stack.additionalProjectGlobs.join(' ')],
    ['vendor', vendor],
    ...Object.entries(settings).map(
      ([name, value]) => [`  ${name}`, value === null ? undefined : String(value)] as const,
    ),
    [
      'on',
      on
        .filter(([, isOn]) => isOn)
        .map(([name]) => name)
        .join(', '),
    ],
    ['trusted bots', stack.trustedBots.join(', ')],
    ['checks', stack.checks === 'aggregate' ? 'one for a commit' : undefined],
    [
      'environment',
      stack.deploymentEnvironment === '' ? 'no deployments' : (stack.deploymentEnvironment ?? stack.id),
    ],
    ...hooks,
  ]);
}
