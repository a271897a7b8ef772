import type { Command } from 'commander';
import { connect } from './api-client.ts';
import { listAll, variableObject } from './api-objects.ts';
import type { CliContext } from './context.ts';
import { outputOf, table } from './output.ts';
import { secretInput } from './secret-input.ts';
import { stackArgument, stackPathOf } from './stack-name.ts';

/** `slipway stack env ...` */
export function addEnvironmentCommands(stack: Command, context: CliContext): void {
  const environment = stack.command('env').description('variables that the runs of a stack get');

  environment
    .command('list')
    .description('names, and values that are no secrets')
    .argument(...stackArgument)
    .action(async (name: string, _options: unknown, command: Command) => {
      await using client = await connect(context);
      const output = outputOf(context, command);
      const items = await listAll(client.call, `${await stackPathOf(client, name)}/environment`);
      output.result({ items }, () => listed(variableObject.array().parse(items)));
      if (items.length === 0) output.next(`slipway stack env set ${name} NAME < file`);
    });

  environment
    .command('set')
    .description('set a variable, for runs that are prepared from now on')
    .argument(...stackArgument)
    .argument('<name>')
    .option('--value <value>', '- or nothing: read from standard input')
    .option('--plain', 'no secret: the value can be read back')
    .option(
      '--access <runs>',
      'all; tracked: not for previews; apply: only while something is changed',
      'all',
    )
    .action(
      async (
        name: string,
        variable: string,
        options: { value?: string; plain?: boolean; access: string },
        command: Command,
      ) => {
        const output = outputOf(context, command);
        const secret = options.plain !== true;
        const value =
          options.plain && options.value !== undefined && options.value !== '-'
            ? options.value
            : await secretInput(context, output, options.value, 'the value');
        await using client = await connect(context);
        const path = `${await stackPathOf(client, name)}/environment/${encodeURIComponent(variable)}`;
        await client.call('PUT', path, { value, secret, access: options.access });
        const set = { name: variable, secret, access: options.access };
        output.result(set, () => `Set ${variable} for ${name}${secret ? ', as a secret' : ''}.`);
      },
    );

  environment
    .command('unset')
    .description('remove a variable')
    .argument(...stackArgument)
    .argument('<name>')
    .action(async (name: string, variable: string, _options: unknown, command: Command) => {
      await using client = await connect(context);
      const path = `${await stackPathOf(client, name)}/environment/${encodeURIComponent(variable)}`;
      await client.call('DELETE', path);
      outputOf(context, command).result({ removed: true }, () => `Removed ${variable} from ${name}.`);
    });
}

type Variable = ReturnType<typeof variableObject.parse>;

function listed(variables: readonly Variable[]): string {
  if (variables.length === 0) return 'No variables.';
  return table(
    ['NAME', 'ACCESS', 'SET BY', 'VALUE'],
    variables.map(({ name, access, secret, value, managedBy }) => [
      name,
      access,
      managedBy ?? '',
      secret ? '(secret)' : (value ?? ''),
    ]),
  );
}
