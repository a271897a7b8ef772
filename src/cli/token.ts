import { type Command, Option } from 'commander';
import { type Role, roles } from '../access/actor.ts';
import type { TokenRecord } from '../access/token-store.ts';
import { toUnixSeconds } from '../clock.ts';
import { type CliContext, configOf, openLocal } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { CliFailure } from './failure.ts';
import { type Output, outputOf, table, time } from './output.ts';

interface CreateOptions {
  readonly name: string;
  readonly role: Role;
  readonly account?: string;
}

/** `slipway token ...`: on the server's own data directory only, whether or not the server runs. */
export function addTokenCommands(token: Command, context: CliContext): void {
  async function open(output: Output) {
    const config = configOf(context);
    if (config.remote) {
      output.note(`Note: tokens are those of ${config.dataDir}, not of SLIPWAY_URL.`);
    }
    return openLocal(context, config);
  }

  token
    .command('create')
    .description('make a token; it is shown this once')
    .requiredOption('--name <name>', 'who will use it; stands in what it does')
    .addOption(new Option('--role <role>').choices(roles).makeOptionMandatory())
    .option('--account <login>', 'the one account it sees; default: all')
    .action(async (options: CreateOptions, command: Command) => {
      const output = outputOf(context, command);
      await using app = await open(output);
      const { name, role, account = null } = options;
      const made = await app.tokens.create({ name, role, account });
      output.result({ ...tokenObject(made), token: made.token }, () => made.token);
      output.next(
        'keep it now: it cannot be shown again. SLIPWAY_URL=... SLIPWAY_TOKEN=... slipway stack list',
      );
    });

  token
    .command('list')
    .description('tokens, without the tokens themselves')
    .action(async (_options: unknown, command: Command) => {
      const output = outputOf(context, command);
      await using app = await open(output);
      const items = (await app.tokens.list()).map(tokenObject);
      output.result({ items }, () => listed(items));
    });

  token
    .command('revoke')
    .description('make a token worthless, at once')
    .argument('<id>', 'as `token list` shows it')
    .action(async (id: string, _options: unknown, command: Command) => {
      const output = outputOf(context, command);
      await using app = await open(output);
      if (!(await app.tokens.revoke(id))) {
        const [detail, hint] = [`There is no token ${id}.`, 'See `slipway token list`.'];
        throw new CliFailure(exitCodes.notFound, detail, { hint, json: { code: 'not-found', detail, hint } });
      }
      output.result({ revoked: true }, () => `Revoked token ${id}.`);
    });
}

function tokenObject({ id, name, role, account, createdAtMs }: TokenRecord) {
  return { id, name, role, account, createdAt: toUnixSeconds(createdAtMs) };
}

function listed(tokens: readonly ReturnType<typeof tokenObject>[]): string {
  if (tokens.length === 0) return 'No tokens yet.';
  return table(
    ['ID', 'NAME', 'ROLE', 'ACCOUNT', 'CREATED'],
    tokens.map(({ id, name, role, account, createdAt }) => [
      id,
      name,
      role,
      account ?? '(all)',
      time(createdAt),
    ]),
  );
}
