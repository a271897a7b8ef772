import { z } from 'zod';
import { runStates } from '../../../runs/run.ts';
import { nanoseconds, request, run } from './run.ts';
import { stack } from './stack.ts';

const state = z.enum(runStates);

const runUpdated = z
  .object({
    state: state.describe('The state that the run has entered.'),
    username: z.string().describe('Who caused that: a login, the name of a token, "worker" or "server".'),
    note: z.string().nullable().describe('Why it is in that state, if there is something to say.'),
    run,
    stack,
    timing: z
      .array(
        z.object({
          state: state.describe('A state that it has left.'),
          duration: nanoseconds.describe('How long it was in it.'),
        }),
      )
      .describe('The states before, in their order.'),
    urls: z.object({ run: z.string().describe('Page of the run.') }).describe('Where to look.'),
  })
  .describe('A run has changed its state.');

export const notificationInput = z
  .object({
    account: z.object({ name: z.string().describe('Login of the account.') }).describe('The account.'),
    run_updated: runUpdated.optional(),
    webhook_endpoints: z
      .array(
        z.object({
          id: z.string().describe('Identifier of the webhook.'),
          stack_id: z.string().describe('The stack that it belongs to.'),
        }),
      )
      .describe('Where requests may be sent to.'),
    request,
  })
  .describe('What has happened: `run_updated` so far; others may come.');
