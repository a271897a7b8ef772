import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Source } from '../runs/source.ts';
import { maxWorkflowRuns } from '../runs/workflow.ts';
import { awayReason } from '../stacks/away.ts';
import type { Commit } from '../stacks/repository.ts';
import type { Stack } from '../stacks/stack.ts';
import type { TriggerDecision } from './decisions/trigger.ts';
import { askAgainAt } from './patience.ts';
import type { Policy } from './policy.ts';

/** A stack that a policy wants to run, and the commit that it would run. */
export interface Target {
  readonly stackId: string;
  readonly policy: Policy;
  readonly found:
    | { readonly kind: 'head'; readonly stack: Stack; readonly commit: Commit }
    /** For people, without a full stop. */
    | { readonly kind: 'refused'; readonly reason: string };
}

export type ReadTargets = (
  triggered: TriggerDecision['triggered'],
  /** Of the account: what is not among them is unknown, whoever else has it. */
  stacks: readonly Stack[],
  sinceMs: number,
) => Promise<
  | { readonly kind: 'read'; readonly all: readonly Target[] }
  /** GitHub does not answer; it may by then. */
  | { readonly kind: 'later'; readonly atMs: number }
>;

/** Asks GitHub for the head of the tracked branch of each stack that is wanted. Outside of any transaction. */
export function createReadTargets(parts: {
  source: Pick<Source, 'resolve'>;
  clock: Clock;
  logger: Logger;
}): ReadTargets {
  const { source, clock, logger } = parts;

  async function headOf(stack: Stack, isLast: boolean): Promise<Target['found'] | null> {
    const { repository, settings } = stack;
    try {
      const commit = await source.resolve(repository, settings.branch, null);
      if (commit) return { kind: 'head', stack, commit };
      return refused(`there is no branch ${settings.branch} in ${repository.fullName}`);
    } catch (error) {
      logger.warn({ err: error, repository: repository.fullName }, 'the head of a branch could not be read');
      return isLast ? refused('GitHub does not say what the head of its branch is') : null;
    }
  }

  async function find(stack: Stack | undefined, index: number, isLast: boolean) {
    if (!stack) return refused('the account has no such stack');
    if (index >= maxWorkflowRuns)
      return refused(`it is one of more than ${maxWorkflowRuns}, which is the most`);
    const away = awayReason(stack);
    return away === null ? headOf(stack, isLast) : refused(away);
  }

  return async (triggered, stacks, sinceMs) => {
    const byId = new Map(stacks.map((stack) => [stack.id, stack]));
    const againAtMs = askAgainAt(sinceMs, clock.nowMs());
    const all: Target[] = [];
    for (const [index, { stackId, policy }] of triggered.entries()) {
      const found = await find(byId.get(stackId), index, againAtMs === null);
      if (found === null) return { kind: 'later', atMs: againAtMs ?? clock.nowMs() };
      all.push({ stackId, policy, found });
    }
    return { kind: 'read', all };
  };
}

const refused = (reason: string): Target['found'] => ({ kind: 'refused', reason });
