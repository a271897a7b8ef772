import type { Stack } from '../../stacks/stack.ts';
import type { Tx } from '../../tx.ts';
import type { RunCommands } from '../commands.ts';
import type { Outcome, Refusal } from '../conversation.ts';
import { askWhatIsMissing } from '../deploy-rules.ts';
import type { Run } from '../run.ts';
import type { RunStore } from '../run-store.ts';
import type { Source } from '../source.ts';
import { type Order, type Prepare, type Reference, refused } from './act.ts';
import { made } from './made.ts';
import { otherBranch } from './other-branch.ts';
import { lastPreviewed, type Previewed } from './previewed.ts';

/**
 * `deploy` and `task`: what may change the world. Of a merged pull request, the branch that the stack follows; of an
 * open one, the commit that was previewed, where the stack has promotion.
 */
export function createDeploy(parts: {
  runs: Pick<RunStore, 'newestOfPullRequest' | 'newestFinished' | 'unfinished' | 'events'>;
  commands: Pick<RunCommands, 'create'>;
  source: Pick<Source, 'compare' | 'resolve'>;
  reference: Reference;
}): Prepare {
  const { commands, source, reference } = parts;

  async function create(
    tx: Tx,
    stack: Stack,
    { comment, command }: Order,
    what: Pick<Run, 'branch' | 'commit'>,
  ): Promise<Outcome> {
    const run = await commands.create(
      {
        ...what,
        stackKey: stack.key,
        type: command.verb === 'task' ? 'TASK' : 'TRACKED',
        pullRequest: comment.pullRequest.pullRequest,
        by: comment.actor,
        ...(command.task === null ? {} : { command: command.task }),
        dedupeKey: `comment:${comment.id}`,
      },
      tx,
    );
    return made(run, reference);
  }

  const ofMerged: Prepare = async ({ repository, settings: { branch } }, order) => {
    const commit = await source.resolve(repository, branch, null);
    return async (tx, stack) => {
      const against = otherBranch(stack, order.comment.pullRequest);
      if (against) return refused(against);
      // The setting was changed in this very moment.
      if (!commit || stack.settings.branch !== branch) return refused({ code: 'branch-not-found', branch });
      return create(tx, stack, order, { branch, commit });
    };
  };

  /** All that can be told without a question. */
  async function promotable(stack: Stack, order: Order, tx?: Tx): Promise<Previewed> {
    const refuse = (refusal: Refusal): Previewed => ({ kind: 'refused', refusal });
    const { pullRequest } = order.comment;
    const wrongBranch = otherBranch(stack, pullRequest);
    if (wrongBranch) return refuse(wrongBranch);
    if (pullRequest.pullRequest.isFork) return refuse({ code: 'of-a-fork' });
    if (!stack.settings.promotion) return refuse({ code: 'promotion-off', branch: stack.settings.branch });
    return lastPreviewed(parts, stack, order, tx);
  }

  const ofOpen: Prepare = async (before, order) => {
    const { headHash, branch } = order.comment.pullRequest;
    const first = await promotable(before, order);
    if (first.kind === 'refused') return () => Promise.resolve(refused(first.refusal));
    const missing = await askWhatIsMissing(parts, before, headHash);

    return async (tx, stack) => {
      const previewed = await promotable(stack, order, tx);
      if (previewed.kind === 'refused') return refused(previewed.refusal);
      const deployed = await missing(tx);
      if (deployed) {
        const hashes = { head: headHash, deployed: deployed.commit.hash };
        return refused({ code: 'behind', run: reference(deployed), ...hashes });
      }
      return create(tx, stack, order, { branch, commit: previewed.run.commit });
    };
  };

  return async (stack, order) => {
    switch (order.comment.pullRequest.state) {
      case 'merged':
        return ofMerged(stack, order);
      case 'open':
        return ofOpen(stack, order);
      case 'closed':
        return () => Promise.resolve(refused({ code: 'pull-request-closed' }));
    }
  };
}
