import { z } from 'zod';
import { briefRun, nanoseconds, request } from './run.ts';
import { stack } from './stack.ts';

const files = (which: string) =>
  z
    .array(z.string())
    .nullable()
    .describe(`${which}, from the root of the repository; null when GitHub gave no whole list.`);

const affected = z
  .boolean()
  .describe(
    'Whether the stack is concerned, as it would be judged without policies; true when the files are not known.',
  );

export const push = z
  .object({
    hash: z.string().describe('Hash of the head commit.'),
    branch: z.string().describe('The branch; `owner:branch` for that of a fork.'),
    author: z
      .string()
      .describe(
        'Login of who pushed, of a pull request that of the author of its head commit; in lower case.',
      ),
    message: z.string().describe('Message of the head commit.'),
    created_at: nanoseconds.describe('Time of the head commit.'),
    tag: z.literal('').describe('Always empty: tags start nothing.'),
    affected_files: files('What was changed'),
    affected,
    forced: z.boolean().describe('The branch was moved, not continued.'),
  })
  .describe('The push, or the head of the pull request.');

export const pullRequest = z
  .object({
    id: z.int().describe('Number of the pull request.'),
    title: z.string().describe('Its title.'),
    author: z.string().describe('Login of who opened it, in lower case.'),
    action: z.string().describe('What happened to it, as GitHub calls it; `merged` for a closing by that.'),
    action_initiator: z.string().describe('Login of who did that, in lower case.'),
    base: z.object({ branch: z.string().describe('That branch.') }).describe('What it is to be merged into.'),
    head: z
      .object({
        branch: z.string().describe('That branch, without the owner of a fork.'),
        hash: z.string().describe('Hash of the head commit.'),
      })
      .describe('What is to be merged.'),
    head_owner: z.string().describe('Owner of the repository that it comes from, in lower case.'),
    fork: z.boolean().describe('That is another repository.'),
    draft: z.boolean().describe('It is a draft.'),
    closed: z.boolean().describe('It is open no more: merged or closed.'),
    mergeable: z
      .boolean()
      .nullable()
      .describe(
        'Neither a conflict nor a rule of the base stands against its merge; null while GitHub works it out.',
      ),
    labels: z.array(z.string()).describe('Its labels.'),
    diff: files('What it changes'),
  })
  .describe('The pull request.');

export const pushInput = z.object({
  event: z
    .enum(['push', 'merge_group', 'pull_request'])
    .describe('What is judged; `merge_group`: a branch of the merge queue.'),
  push,
  pull_request: pullRequest.nullable().describe('The pull request; null for a push.'),
  in_progress: z.array(briefRun).describe('Runs of the stack that are not over, the oldest first.'),
  stack,
  request,
});
