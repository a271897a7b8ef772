import { actorKey, actorName, type Starter, triggerName } from '../access/actor.ts';
import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { PullRequest } from '../stacks/pull-request.ts';
import type { Commit } from '../stacks/repository.ts';
import type { Stack } from '../stacks/stack.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import { type Transactions, type Tx, within } from '../tx.ts';
import { UserError } from '../user-error.ts';
import { type Gates, requireOpen } from './approvals/gates.ts';
import { attachPullRequest } from './attach-pull-request.ts';
import { findEarlier } from './earlier-run.ts';
import { putFirst } from './put-first.ts';
import { requireForksAllowed, requireReach, requireTracked } from './requirements.ts';
import { isTerminal, type Run, type RunCommand, type RunState, type RunType } from './run.ts';
import type { RunStore } from './run-store.ts';
import type { Transitions } from './transition.ts';

/**
 * What people, programs and pushes may ask of runs. Rights are the caller's business; here commands are
 * compare-and-set, so that of two people who act at once one wins and the other is told what happened. Each is one
 * transaction, or a part of the one that is given; who throws has written nothing.
 */
export interface RunCommands {
  /**
   * 'duplicate' when there is a run for this already, as `dedupeKey` and `unlessCommitHas` say. Rejects with
   * `repository-away`.
   */
  create(request: CreateRun, tx?: Tx): Promise<Run | 'duplicate'>;
  /** Rejects with `confirmation-required`, and with `approval-required` while approval policies do not let it pass. */
  confirm(
    runId: string,
    request: CommandRequest & { confirmation?: string },
    tx?: Tx,
  ): Promise<CommandResult>;
  discard(runId: string, request: CommandRequest, tx?: Tx): Promise<CommandResult>;
  cancel(runId: string, request: CommandRequest, tx?: Tx): Promise<CommandResult>;
  stop(runId: string, request: CommandRequest, tx?: Tx): Promise<CommandResult>;
  /** In front of what else waits in its stack; only while it waits itself. No state changes by it. */
  prioritize(runId: string, request: Pick<CommandRequest, 'stateVersion'>): Promise<CommandResult>;
  /**
   * A new run of the same type, branch and commit, with secrets only if the first had them. Rejects with
   * `run-not-over` before the end, with `commit-not-tracked` or `forks-not-allowed` when the stack no longer takes
   * commits of that branch.
   */
  retry(
    runId: string,
    request: Pick<CreateRun, 'by'> & Partial<Pick<CreateRun, 'dedupeKey'>>,
    tx?: Tx,
  ): Promise<Run | 'duplicate'>;
}

export interface CreateRun {
  readonly stackKey: string;
  readonly type: RunType;
  readonly branch: string;
  readonly commit: Commit;
  /** A run of the commit that there is already becomes one of it. */
  readonly pullRequest?: PullRequest;
  /** Left out: it gets the secrets of the stack. */
  readonly isUntrusted?: boolean;
  readonly by: Starter;
  /** Why, where that is not plain: stands beside its first state. */
  readonly note?: string;
  readonly command?: string;
  /** The same again for the same stack makes no second run. Null: this call always makes one. */
  readonly dedupeKey: string | null;
  /** `newest`: none either while the newest run of the type has this very commit. `any`: while any has that was not withdrawn, and that gets secrets if this one does. */
  readonly unlessCommitHas?: 'newest' | 'any';
  /** A push or a pull request: PROPOSED runs of other commits of the branch are of no use any more and end. */
  readonly supersedes?: boolean;
}

export interface CommandRequest {
  readonly actor: string;
  /** The version the person looked at; undefined = whatever it is now. */
  readonly stateVersion?: number | undefined;
  readonly note?: string | undefined;
}

export type CommandResult =
  | { readonly kind: 'done'; readonly run: Run }
  | { readonly kind: 'conflict'; readonly state: RunState; readonly stateVersion: number };

export function createRunCommands(parts: {
  runs: RunStore;
  stacks: StackStore;
  transitions: Transitions;
  gates: Gates;
  transactions: Transactions;
  clock: Clock;
  newId: NewId;
}): RunCommands {
  const { runs, stacks, transitions, transactions, clock, newId } = parts;

  async function create(request: CreateRun, given?: Tx): Promise<Run | 'duplicate'> {
    return within(transactions, given, async (tx) => {
      const stack = await stacks.findByKey(request.stackKey, tx);
      if (!stack) throw new UserError('not-found', 'The stack no longer exists.');
      requireReach(stack);
      const { run: same, isUntrusted } = await findEarlier(runs, tx, withTrust(request));
      if (same) {
        if (request.pullRequest) await attachPullRequest(runs, tx, same, request.pullRequest);
        else await runs.setRenewed(tx, same.id);
        if (request.supersedes) await supersede(tx, request, same.id);
        return 'duplicate';
      }
      const id = newId();
      const run = await transitions.create(
        tx,
        stack,
        {
          id,
          stackKey: stack.key,
          type: request.type,
          branch: request.branch,
          commit: request.commit,
          ...(request.pullRequest ? { pullRequest: request.pullRequest } : {}),
          isUntrusted,
          createdAtMs: clock.nowMs(),
          triggeredBy: triggerName(request.by),
          startedBy: actorKey(request.by),
          ...(request.command === undefined ? {} : { command: request.command }),
          priority: 0,
          dedupeKey: request.dedupeKey ?? `run:${id}`,
        },
        { actor: actorName(request.by), note: request.note ?? null },
      );
      // Not for one that was told before: what came after it may be what waits now.
      if (run !== 'duplicate' && request.supersedes) await supersede(tx, request, run.id);
      return run;
    });
  }

  async function supersede(tx: Tx, { stackKey, branch }: CreateRun, newerId: string): Promise<void> {
    const previews = await runs.unfinishedPreviews(stackKey, branch, tx);
    const older = previews.filter(({ id }) => id !== newerId);
    const note = `superseded by run ${newerId}`;
    const by = { actor: 'server', note, change: { outcome: 'superseded' } } as const;
    for (const run of older) await transitions.move(tx, run, { kind: 'withdraw' }, by);
  }

  async function command(
    runId: string,
    what: RunCommand,
    request: CommandRequest,
    given: Tx | undefined,
    check?: (tx: Tx, run: Run, stack: Stack) => Promise<void>,
  ): Promise<CommandResult> {
    return within(transactions, given, async (tx) => {
      const run = await runs.find(runId, tx);
      if (!run) throw new UserError('not-found', 'There is no such run.');
      if (request.stateVersion !== undefined && request.stateVersion !== run.stateVersion) {
        return { kind: 'conflict', state: run.state, stateVersion: run.stateVersion };
      }
      const stack = await stacks.findByKey(run.stackKey, tx);
      if (stack) await check?.(tx, run, stack);
      const moved = await transitions.move(tx, run, what, {
        actor: request.actor,
        note: request.note ?? null,
      });
      if (moved.kind === 'moved') return { kind: 'done', run: moved.run };
      return moved.kind === 'refused'
        ? { kind: 'conflict', state: moved.state, stateVersion: moved.stateVersion }
        : { kind: 'conflict', state: run.state, stateVersion: run.stateVersion };
    });
  }

  return {
    create,
    confirm: (runId, request, tx) =>
      command(runId, { kind: 'confirm' }, request, tx, async (tx, run, stack) => {
        if (
          run.type === 'DESTROY' &&
          run.state === 'UNCONFIRMED' &&
          request.confirmation !== stack.settings.name
        ) {
          throw new UserError(
            'confirmation-required',
            'A tear-down is confirmed with the name of its stack.',
            {
              issues: [{ path: 'confirmation', message: 'must be the name of the stack' }],
            },
          );
        }
        if (run.state !== 'QUEUED') requireOpen(await parts.gates.standing(run, tx));
      }),
    discard: (runId, request, tx) => command(runId, { kind: 'discard' }, request, tx),
    cancel: (runId, request, tx) => command(runId, { kind: 'cancel' }, request, tx),
    stop: (runId, request, tx) => command(runId, { kind: 'stop' }, request, tx),
    prioritize: (runId, { stateVersion }) =>
      transactions.write(async (tx) => {
        const run = await runs.find(runId, tx);
        if (!run) throw new UserError('not-found', 'There is no such run.');
        const isMeant = stateVersion === undefined || stateVersion === run.stateVersion;
        if (!isMeant || run.state !== 'QUEUED') {
          return { kind: 'conflict', state: run.state, stateVersion: run.stateVersion };
        }
        return { kind: 'done', run: await putFirst(runs, tx, run) };
      }),
    retry: (runId, request, given) =>
      within(transactions, given, async (tx) => {
        const run = await runs.find(runId, tx);
        if (!run) throw new UserError('not-found', 'There is no such run.');
        if (!isTerminal(run.state)) {
          throw new UserError(
            'run-not-over',
            `The run is ${run.state}; only a run that is over can be retried.`,
          );
        }
        const { stackKey, type, branch, commit, command, pullRequest, isUntrusted = false } = run;
        const stack = await stacks.findByKey(stackKey, tx);
        if (stack) {
          requireTracked(stack.settings, type, branch);
          if (type === 'PROPOSED') requireForksAllowed(stack.settings, pullRequest);
        }
        const again = {
          ...{ stackKey, type, branch, commit, isUntrusted },
          ...(command === undefined ? {} : { command }),
          ...(pullRequest === undefined ? {} : { pullRequest }),
          dedupeKey: null,
          ...request,
        };
        return create(again, tx);
      }),
  };
}

/** Whoever asks for it, and however: the commits of a fork are nobody's whom the stack knows. */
const withTrust = (request: CreateRun): CreateRun =>
  request.type === 'PROPOSED' && request.pullRequest?.isFork ? { ...request, isUntrusted: true } : request;
