import { z } from '@hono/zod-openapi';
import { toUnixSeconds } from '../../clock.ts';
import type { Gates } from '../../runs/approvals/gates.ts';
import { readBlocker } from '../../runs/blocker.ts';
import { isBlocking, isTerminal, type Run, runStates } from '../../runs/run.ts';
import type { RunCauseStore } from '../../runs/run-causes.ts';
import type { RunStore } from '../../runs/run-store.ts';
import { trustOfRun, trusts } from '../../runs/trust.ts';
import type { Stack } from '../../stacks/stack.ts';
import type { ToolTrouble } from '../../stacks/vendor-settings.ts';
import { runExample, troubleExample } from './examples.ts';

export const runTypes = ['PROPOSED', 'TRACKED', 'TASK', 'DESTROY'] as const satisfies Run['type'][];
export const runState = z.enum(runStates);

const commit = z.object({
  authorLogin: z.string(),
  authorName: z.string(),
  hash: z.string(),
  message: z.string(),
  timestamp: z.number().int(),
  url: z.string(),
});

const blockedBy = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('run'), run: z.string(), state: runState }),
  z.object({ kind: z.literal('lock'), holder: z.string(), reason: z.string() }),
  z.object({ kind: z.literal('repository'), reason: z.string() }),
  z.object({ kind: z.literal('approval'), reason: z.string() }),
]);

export const deltaSchema = z.object({
  added: z.number().int(),
  changed: z.number().int(),
  deleted: z.number().int(),
  resources: z.number().int(),
});

export const troubleSchema = z
  .discriminatedUnion('kind', [
    z.object({
      kind: z.literal('state-locked'),
      lockId: z.string().nullable(),
      holder: z.string().nullable(),
      sinceMs: z.number().int().nullable(),
    }),
    z.object({
      kind: z.literal('pending-operations'),
      operations: z.array(z.object({ op: z.string(), urn: z.string() })),
    }),
  ])
  .openapi('Trouble', {
    description: 'What the run found the state to be in; null is what the tool does not say.',
    example: troubleExample,
  });

/** The run object of the API. */
export const runSchema = z
  .object({
    id: z.string(),
    stack: z.object({ account: z.string(), id: z.string(), name: z.string() }),
    type: z.enum(runTypes),
    state: runState,
    stateVersion: z.number().int(),
    branch: z.string(),
    commit,
    pullRequest: z
      .object({
        number: z.number().int(),
        base: z.string(),
        title: z.string(),
        author: z.string(),
        isFork: z.boolean(),
      })
      .optional()
      .openapi({
        description: 'The pull request that the run previews, or below which a comment asked for it.',
      }),
    untrusted: z.boolean().optional().openapi({
      description: 'True for what a fork or a bot that is not trusted brought: the run gets no secrets.',
    }),
    trust: z.enum(trusts).openapi({
      description:
        'What the commands get. `untrusted`: no secrets, only plain variables of `access: all` (a fork, a bot that is not trusted). `branch`: the variables of `access: all` (other previews). `tracked`: those of `tracked`, too, and once it applies those of `apply` (TRACKED, DESTROY). `apply`: all of them (TASK).',
    }),
    createdAt: z.number().int(),
    triggeredBy: z.string(),
    cause: z
      .object({
        run: z.string().openapi({ description: 'After the end of that run; it may be removed by now.' }),
        policy: z.string().openapi({ description: 'Name of the trigger policy that wanted it.' }),
      })
      .optional()
      .openapi({ description: 'Why it was started, when a policy started it.' }),
    command: z.string().optional().openapi({ description: 'TASK only.' }),
    delta: deltaSchema.optional().openapi({ description: 'Present once a preview finished.' }),
    note: z.string().optional(),
    outcome: z.string().optional(),
    trouble: troubleSchema.optional(),
    changesDigest: z.string().optional().openapi({
      description: 'Names the commit, the type and all that the plan shows: what an override is given for.',
    }),
    logRemoved: z.boolean().optional().openapi({ description: 'True once its log was removed for its age.' }),
    blockedBy: blockedBy.optional().openapi({
      description:
        'What keeps a QUEUED run back, or what an UNCONFIRMED or PENDING_REVIEW run lacks before people can decide.',
    }),
    blocks: z.number().int().optional().openapi({
      description: 'How many runs of the stack wait until this one is over; absent when none does.',
    }),
  })
  .openapi('Run', { example: runExample });
export type RunObject = z.infer<typeof runSchema>;

export function troubleObject(trouble: ToolTrouble): z.infer<typeof troubleSchema> {
  if (trouble.kind === 'state-locked') return trouble;
  return { ...trouble, operations: [...trouble.operations] };
}

/** What else is read for it. */
export interface Waiting {
  readonly runs: Pick<RunStore, 'activeRun' | 'firstQueued' | 'countQueued'>;
  readonly gates: Gates;
  readonly causes: Pick<RunCauseStore, 'find'>;
}

export async function runObject(run: Run, stack: Stack, waiting: Waiting): Promise<RunObject> {
  const blocker = await readBlocker(waiting, run, stack);
  const holdsLine = isBlocking(run.type) && run.state !== 'QUEUED' && !isTerminal(run.state);
  const blocks = holdsLine ? await waiting.runs.countQueued(stack.key) : 0;
  const cause = await waiting.causes.find(run.id);
  return {
    id: run.id,
    stack: { account: stack.account, id: stack.id, name: stack.settings.name },
    type: run.type,
    state: run.state,
    stateVersion: run.stateVersion,
    branch: run.branch,
    commit: run.commit,
    ...(run.pullRequest ? { pullRequest: run.pullRequest } : {}),
    ...(run.isUntrusted ? { untrusted: true } : {}),
    trust: trustOfRun(run),
    createdAt: toUnixSeconds(run.createdAtMs),
    triggeredBy: run.triggeredBy,
    ...(cause ? { cause: { run: cause.causeRunId, policy: cause.policyName } } : {}),
    ...(run.command === undefined ? {} : { command: run.command }),
    ...(run.delta ? { delta: run.delta } : {}),
    ...(run.note === undefined ? {} : { note: run.note }),
    ...(run.outcome === undefined ? {} : { outcome: run.outcome }),
    ...(run.trouble ? { trouble: troubleObject(run.trouble) } : {}),
    ...(run.changesDigest === undefined ? {} : { changesDigest: run.changesDigest }),
    ...(run.logRemoved ? { logRemoved: true } : {}),
    ...(blocker ? { blockedBy: blocker } : {}),
    ...(blocks > 0 ? { blocks } : {}),
  };
}
