import { z } from 'zod';
import { briefRun, request, run } from './run.ts';
import { stack } from './stack.ts';

const member = briefRun
  .pick({ id: true, type: true, state: true })
  .extend({ stack_id: z.string().describe('Identifier of its stack.') });

export const triggerInput = z.object({
  run,
  stack,
  stacks: z.array(stack).describe('All stacks of the account.'),
  workflow: z
    .array(member)
    .describe('The runs that came of the same first run, that one and this one included; the oldest first.'),
  request,
});
