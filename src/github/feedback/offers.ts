import type { Clock } from '../../clock.ts';
import type { Offer, Offers } from '../../runs/offers.ts';
import type { Reactor } from '../../runs/run-event.ts';
import type { Tx } from '../../tx.ts';
import { type CheckRunBody, checkRunItem } from './check-run.ts';
import type { OutboxStore } from './outbox-store.ts';
import { codeSpan } from './shown-text.ts';

const prefix = 'offer:';
/** It names a path, which is whatever somebody called a file. */
const longestReason = 300;

/** What GitHub knows the check run of an offer by. */
const offerId = (stackKey: string, hash: string): string => `${prefix}${stackKey}:${hash}`;

/** Null for the check run of anything else. */
export function parseOfferId(
  externalId: string,
): { readonly stackKey: string; readonly hash: string } | null {
  const [, stackKey, hash] = /^offer:([^:]+):([0-9a-f]+)$/.exec(externalId) ?? [];
  return stackKey && hash ? { stackKey, hash } : null;
}

interface About {
  readonly stack: Pick<Offer['stack'], 'key' | 'id' | 'settings'>;
  readonly commit: Pick<Offer['commit'], 'hash' | 'url'>;
  readonly nowMs: number;
}

/** What GitHub shall show of a push that it did not tell of, until somebody wants its run. Pure. */
export function offerCheckOf(about: About, reason: string): CheckRunBody {
  return {
    ...frameOf(about),
    conclusion: 'action_required',
    output: {
      title: 'Not deployed: GitHub did not tell of this push',
      summary: [
        `The branch ${codeSpan(about.stack.settings.branch, longestReason)} has moved to this commit, and no message of GitHub said so. Nothing was run.`,
        `The stack \`${about.stack.id}\` is concerned: ${codeSpan(reason, longestReason)}.`,
        'The button starts the run that the push would have started.',
      ].join('\n\n'),
    },
    actions: [{ identifier: 'deploy', label: 'Deploy', description: 'Starts the run of this commit' }],
  };
}

/** The same once there is a run, which has a check run of its own. Pure. */
export function takenOfferOf(about: About, runId: string): CheckRunBody {
  return {
    ...frameOf(about),
    ...over('A run was started', `This commit has run ${runId} by now.`),
  };
}

/** The same once another commit was dealt with. Pure. */
export function overtakenOfferOf(offer: CheckRunBody, why: string): CheckRunBody {
  return { ...offer, ...over('Not deployed', `GitHub did not tell of this push. ${why}`) };
}

const over = (title: string, summary: string) =>
  ({ conclusion: 'neutral', output: { title, summary }, actions: [] }) as const;

function frameOf({ stack, commit, nowMs }: About) {
  const now = new Date(nowMs).toISOString();
  return {
    name: `slipway/${stack.id}`,
    head_sha: commit.hash,
    external_id: offerId(stack.key, commit.hash),
    details_url: commit.url,
    status: 'completed' as const,
    started_at: now,
    completed_at: now,
  };
}

/**
 * Writes down what GitHub shall show of offers, and that one is of no use once the stack has a run of its commit or of
 * another: nobody is to be asked for ever.
 */
export function createOffers(parts: {
  store: Pick<OutboxStore, 'want' | 'inSlot'>;
  clock: Clock;
  /** Called after the commit. */
  onWanted: () => void;
}): Offers & { readonly reactor: Reactor } {
  const { store, clock } = parts;
  const slotOf = (stack: About['stack']) => `${prefix}${stack.key}`;

  /** Out of the slot, so that it is shown although another takes its place. */
  async function end(tx: Tx, desired: CheckRunBody, repositoryId: number): Promise<void> {
    await store.want(tx, checkRunItem(desired, { repositoryId, runId: null }), clock.nowMs());
    tx.afterCommit(parts.onWanted);
  }

  return {
    async offer(tx, { stack, commit, reason }) {
      const nowMs = clock.nowMs();
      const repositoryId = stack.repository.id;
      const desired = offerCheckOf({ stack, commit, nowMs }, reason);
      const slot = slotOf(stack);
      const open = await store.inSlot(tx, slot);
      if (open && open.id !== desired.external_id) {
        const why = `The branch has moved on to ${commit.hash}.`;
        await end(tx, overtakenOfferOf(open.desired as CheckRunBody, why), repositoryId);
      }
      await store.want(tx, checkRunItem(desired, { repositoryId, runId: null, slot }), nowMs);
      tx.afterCommit(parts.onWanted);
    },

    async reactor(tx, { run, stack }) {
      if (run.state !== 'QUEUED' || run.type !== 'TRACKED') return;
      const open = await store.inSlot(tx, slotOf(stack));
      if (!open) return;
      const { id, commit } = run;
      const isTaken = open.id === offerId(stack.key, commit.hash);
      const desired = isTaken
        ? takenOfferOf({ stack, commit, nowMs: clock.nowMs() }, id)
        : overtakenOfferOf(open.desired as CheckRunBody, `The stack has run ${id} of ${commit.hash} since.`);
      await end(tx, desired, stack.repository.id);
    },
  };
}
