import type { Clock } from '../../clock.ts';
import type { Offer, Offers } from '../../runs/offers.ts';
import type { Reactor } from '../../runs/run-event.ts';
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
    conclusion: 'neutral',
    output: { title: 'A run was started', summary: `This commit has run ${runId} by now.` },
    actions: [],
  };
}

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

/** Writes down what GitHub shall show of offers, and that one is of no use once its commit has a run. */
export function createOffers(parts: {
  store: Pick<OutboxStore, 'want' | 'find'>;
  clock: Clock;
  /** Called after the commit. */
  onWanted: () => void;
}): Offers & { readonly reactor: Reactor } {
  const { store, clock } = parts;

  return {
    async offer(tx, { stack, commit, reason }) {
      const nowMs = clock.nowMs();
      const desired = offerCheckOf({ stack, commit, nowMs }, reason);
      // A stack has one open offer: of an older commit nobody is to be asked any more.
      const of = { repositoryId: stack.repository.id, runId: null, slot: `${prefix}${stack.key}` };
      await store.want(tx, checkRunItem(desired, of), nowMs);
      tx.afterCommit(parts.onWanted);
    },

    async reactor(tx, { run, stack }) {
      if (run.state !== 'QUEUED' || run.type !== 'TRACKED') return;
      if ((await store.find(offerId(stack.key, run.commit.hash), tx)) === null) return;
      const nowMs = clock.nowMs();
      const desired = takenOfferOf({ stack, commit: run.commit, nowMs }, run.id);
      const of = { repositoryId: stack.repository.id, runId: null, slot: `${prefix}${stack.key}` };
      await store.want(tx, checkRunItem(desired, of), nowMs);
      tx.afterCommit(parts.onWanted);
    },
  };
}
