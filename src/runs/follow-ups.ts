import type { Commit } from '../stacks/repository.ts';
import type { Stack } from '../stacks/stack.ts';
import type { Tx } from '../tx.ts';
import { UserError } from '../user-error.ts';
import type { RunCommands } from './commands.ts';
import type { Run } from './run.ts';
import type { RunCause, RunCauseStore } from './run-causes.ts';
import type { RunStore } from './run-store.ts';
import { loopRefusal, type WorkflowRun } from './workflow.ts';

/** Starts runs after runs, as far as the loop guard lets them, and remembers which follows from which. */
export interface FollowUps {
  /** The workflow of a run, itself included, the oldest first; what was removed for its age is missing. */
  workflowOf(run: Run, tx?: Tx): Promise<readonly WorkflowMember[]>;
  /** A TRACKED run for each wish, or why not, in their order. In the caller's transaction; a refusal has written nothing. */
  start(tx: Tx, after: Run, wishes: readonly FollowUp[]): Promise<readonly Started[]>;
}

export interface WorkflowMember {
  readonly run: Run;
  /** Null: with this one it began. */
  readonly cause: RunCause | null;
}

export interface FollowUp {
  readonly stack: Stack;
  /** Head of its tracked branch. */
  readonly commit: Commit;
  /** Who wants it. */
  readonly policy: { readonly id: string; readonly name: string };
}

export type Started =
  | { readonly kind: 'started'; readonly run: Run }
  /** For people, without a full stop. */
  | { readonly kind: 'refused'; readonly reason: string };

export function createFollowUps(parts: {
  runs: Pick<RunStore, 'find'>;
  causes: RunCauseStore;
  commands: Pick<RunCommands, 'create'>;
}): FollowUps {
  const { causes, commands } = parts;

  async function create(tx: Tx, after: Run, { stack, commit, policy }: FollowUp): Promise<Started> {
    const run = await commands.create(
      {
        stackKey: stack.key,
        type: 'TRACKED',
        branch: stack.settings.branch,
        commit,
        by: { kind: 'policy', id: policy.id, name: policy.name },
        note: `after run ${after.id}`,
        dedupeKey: `trigger:${after.id}`,
      },
      tx,
    );
    return run === 'duplicate'
      ? refused('a run was started after this one already')
      : { kind: 'started', run };
  }

  return {
    workflowOf: (run, tx) => readWorkflow(parts, run, tx),
    async start(tx, after, wishes) {
      const cause = await causes.find(after.id, tx);
      const last = asWorkflowRun({ run: after, cause });
      const workflow = (await readWorkflow(parts, after, tx)).map(asWorkflowRun);
      const all: Started[] = [];
      for (const wish of wishes) {
        const reason = loopRefusal(workflow, last, wish.stack.key);
        const started =
          reason === null ? await create(tx, after, wish).catch(refusedByRule) : refused(reason);
        all.push(started);
        if (started.kind === 'refused') continue;
        const { id: policyId, name: policyName } = wish.policy;
        const made = { runId: started.run.id, causeRunId: after.id, policyId, policyName };
        const itsCause = { ...made, workflow: cause?.workflow ?? after.id, depth: last.depth + 1 };
        await causes.insert(tx, itsCause);
        workflow.push(asWorkflowRun({ run: started.run, cause: itsCause }));
      }
      return all;
    },
  };
}

/** As `workflowOf`. */
export async function readWorkflow(
  { runs, causes }: { readonly runs: Pick<RunStore, 'find'>; readonly causes: RunCauseStore },
  run: Run,
  tx?: Tx,
): Promise<readonly WorkflowMember[]> {
  const first = (await causes.find(run.id, tx))?.workflow ?? run.id;
  const later = await causes.ofWorkflow(first, tx);
  const members: WorkflowMember[] = [];
  for (const [id, cause] of [[first, null] as const, ...later.map((each) => [each.runId, each] as const)]) {
    const found = await runs.find(id, tx);
    if (found) members.push({ run: found, cause });
  }
  return members;
}

function asWorkflowRun({ run: { id, stackKey, state }, cause }: WorkflowMember): WorkflowRun {
  return { id, stackKey, state, causeRunId: cause?.causeRunId ?? null, depth: cause?.depth ?? 0 };
}

/** What a rule of runs or of the stack forbids, e.g. `repository-away`. */
function refusedByRule(error: unknown): Started {
  if (!(error instanceof UserError)) throw error;
  return refused(error.message.replace(/\.$/, ''));
}

const refused = (reason: string): Started => ({ kind: 'refused', reason });
