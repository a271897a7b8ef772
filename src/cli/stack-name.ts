import type { ApiClient } from './api-client.ts';
import { listAll, stackObject } from './api-objects.ts';
import { exitCodes } from './exit-codes.ts';
import { CliFailure, usageFailure } from './failure.ts';

/** How a stack is written on the command line. */
export const stackArgument = ['<stack>', 'account/id, or the id alone when no other account has it'] as const;

/** The API's path of a stack: `/api/v1/stacks/<account>/<id>`. */
export async function stackPathOf(client: ApiClient, name: string): Promise<string> {
  const parts = name.split('/');
  if (parts.length > 2 || parts.includes('')) throw usageFailure(`${name}: a stack is written account/id`);
  const [first = '', second] = parts;
  if (second !== undefined) return pathOf(first, second);

  const stacks = stackObject.array().parse(await listAll(client.call, '/api/v1/stacks'));
  const [found, ...others] = stacks.filter(({ id }) => id === first);
  if (!found) {
    const hint = 'See `slipway stack list`.';
    const message = `There is no stack ${first} that you may see.`;
    throw new CliFailure(exitCodes.notFound, message, {
      hint,
      json: { code: 'not-found', detail: message, hint },
    });
  }
  if (others.length > 0) {
    const names = [found, ...others].map(({ account, id }) => `${account}/${id}`).join(', ');
    throw usageFailure(`${first} is the id of several stacks: ${names}`);
  }
  return pathOf(found.account, found.id);
}

const pathOf = (account: string, id: string): string =>
  `/api/v1/stacks/${encodeURIComponent(account)}/${encodeURIComponent(id)}`;
