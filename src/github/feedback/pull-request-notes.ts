import { z } from 'zod';
import type { Clock } from '../../clock.ts';
import type { PullRequestNotes } from '../../runs/pull-request-notes.ts';
import type { GithubApp } from '../github-app.ts';
import { statusOf } from '../github-error.ts';
import { splitFullName } from '../repositories.ts';
import { isOvertaken, policyCommentItem } from './comment/policy-comment.ts';
import type { OutboxStore } from './outbox-store.ts';

const numbersJson = z.array(z.object({ number: z.number().int() }));
/** So many of a branch or commit are written to at most. */
const maxFound = 30;

export function createPullRequestNotes(parts: {
  readonly app: Pick<GithubApp, 'asInstallation'>;
  readonly store: Pick<OutboxStore, 'want' | 'find'>;
  readonly clock: Clock;
  /** Called after the commit. */
  readonly onWanted: () => void;
}): PullRequestNotes {
  const { app, store, clock, onWanted } = parts;
  return {
    async find({ fullName, installationId }, by) {
      const name = splitFullName(fullName);
      if (!name) return [];
      const { rest } = await app.asInstallation(installationId);
      const page = { ...name, per_page: maxFound };
      try {
        const { data } =
          'commit' in by
            ? await rest.repos.listPullRequestsAssociatedWithCommit({ ...page, commit_sha: by.commit })
            : await rest.pulls.list({ ...page, base: by.intoBranch, state: 'open' });
        return numbersJson.parse(data).map(({ number }) => number);
      } catch (error) {
        // 422: no such commit.
        if (statusOf(error) === 404 || statusOf(error) === 422) return [];
        throw error;
      }
    },

    async write(tx, note) {
      const item = policyCommentItem(note);
      const there = await store.find(item.id, tx);
      if (there && isOvertaken(note, there.desired)) return;
      await store.want(tx, item, clock.nowMs());
      tx.afterCommit(onWanted);
    },
  };
}
