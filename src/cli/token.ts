import { type Command, Option } from 'commander';
import { z } from 'zod';
import { type Role, roles } from '../access/actor.ts';
import { connect } from './api-client.ts';
import { listAll } from './api-objects.ts';
import type { CliContext } from './context.ts';
import { usageFailure } from './failure.ts';
import { spanSeconds } from './moment.ts';
import { outputOf, table, time } from './output.ts';

const tokensPath = '/api/v1/tokens';

const tokenObject = z.object({
  id: z.string(),
  name: z.string(),
  role: z.string(),
  account: z.string().nullable(),
  createdAt: z.number(),
  createdBy: z.string(),
  expiresAt: z.number().nullable(),
  lastUsedAt: z.number().nullable(),
});
type TokenObject = z.infer<typeof tokenObject>;

interface CreateOptions {
  readonly name: string;
  readonly role: Role;
  readonly account?: string;
  readonly expiresIn?: string;
}

/** `slipway token ...`: needs no running server, as everything that works on the data directory. */
export function addTokenCommands(token: Command, context: CliContext): void {
  token
    .command('create')
    .description('make a token; it is shown this once')
    .requiredOption('--name <name>', 'who will use it; stands in what it does')
    .addOption(new Option('--role <role>').choices(roles).makeOptionMandatory())
    .option('--account <login>', 'the one account it sees; default: all')
    .option('--expires-in <time>', 'e.g. 90d, 12h; default: never')
    .action(async ({ name, role, account, expiresIn }: CreateOptions, command: Command) => {
      const output = outputOf(context, command);
      const expiry = expiresIn === undefined ? {} : { expiresAt: expiresAt(expiresIn, Date.now()) };
      await using client = await connect(context);
      const input = { name, role, ...(account === undefined ? {} : { account }), ...expiry };
      const made = await client.call('POST', tokensPath, input);
      output.result(made, () => z.object({ token: z.string() }).parse(made).token);
      output.next(
        'keep it now: it cannot be shown again. SLIPWAY_URL=... SLIPWAY_TOKEN=... slipway stack list',
      );
    });

  token
    .command('list')
    .description('tokens, without the tokens themselves')
    .action(async (_options: unknown, command: Command) => {
      await using client = await connect(context);
      const items = await listAll(client.call, tokensPath);
      const tokens = tokenObject.array().parse(items);
      outputOf(context, command).result({ items }, () => listed(tokens));
    });

  token
    .command('revoke')
    .description('make a token worthless, at once')
    .argument('<id>', 'as `token list` shows it')
    .action(async (id: string, _options: unknown, command: Command) => {
      await using client = await connect(context);
      await client.call('DELETE', `${tokensPath}/${encodeURIComponent(id)}`);
      outputOf(context, command).result({ revoked: true }, () => `Revoked token ${id}.`);
    });
}

function expiresAt(span: string, nowMs: number): number {
  const seconds = spanSeconds(span);
  if (seconds === null || seconds === 0) throw usageFailure('--expires-in: must be like 90d, 12h or 30m');
  return Math.floor(nowMs / 1000) + seconds;
}

function listed(tokens: readonly TokenObject[]): string {
  if (tokens.length === 0) return 'No tokens yet.';
  return table(
    ['ID', 'NAME', 'ROLE', 'ACCOUNT', 'CREATED', 'BY', 'LAST USED', 'EXPIRES'],
    tokens.map((token) => [
      token.id,
      token.name,
      token.role,
      token.account ?? '(all)',
      time(token.createdAt),
      token.createdBy,
      token.lastUsedAt === null ? 'never' : time(token.lastUsedAt),
      token.expiresAt === null ? 'never' : time(token.expiresAt),
    ]),
  );
}
