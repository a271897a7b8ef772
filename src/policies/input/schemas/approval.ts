import { z } from 'zod';
import { runStates } from '../../../runs/run.ts';
import { nanoseconds, request, run, session } from './run.ts';
import { stack } from './stack.ts';

const review = z.object({
  author: z.string().describe('As `session.login`.'),
  role: z
    .enum(['reader', 'writer', 'admin'])
    .describe('What they may do with the stack, when they reviewed.'),
  session,
  request: z
    .object({ timestamp_ns: nanoseconds.describe('When they reviewed.') })
    .describe('About the review itself.'),
  state: z.enum(runStates).describe('State of the run that they reviewed.'),
  note: z.string().nullable().describe('What they said; null when they said nothing.'),
});

const sides = {
  approvals: z.array(review).describe('Of those who approve, the oldest first.'),
  rejections: z.array(review).describe('Of those who reject, the oldest first.'),
};

export const approvalInput = z.object({
  run,
  stack,
  reviews: z
    .object({
      current: z
        .object(sides)
        .describe(
          'Of the state in which the run is, and approvals that the stack got for the very same changes before.',
        ),
      older: z
        .array(z.object({ state: z.enum(runStates).describe('That state.'), ...sides }))
        .describe('Of the states that the run has left, the newest first.'),
    })
    .describe('Only the newest review of a person counts in each.'),
  request,
});
