import { z } from 'zod';
import { laneOf, type WantedItem } from '../outbox-store.ts';

/** Which pull request, beyond renames. */
export interface PullRequestPlace {
  readonly repositoryId: number;
  readonly number: number;
}

/** All else is read when the comment is sent. */
const desiredComment = z.object({
  number: z.number().int(),
  /** What the latest command was answered, in markdown. */
  answer: z.string().nullable(),
});

export const commentItemId = ({ repositoryId, number }: PullRequestPlace): string =>
  `pull-request:${repositoryId}:${number}`;

export function commentItem(place: PullRequestPlace, answer: string | null): WantedItem {
  const { repositoryId, number } = place;
  return {
    id: commentItemId(place),
    kind: 'comment',
    runId: null,
    repositoryId,
    lane: laneOf(repositoryId, 'comment'),
    desired: { number, answer } satisfies z.input<typeof desiredComment>,
  };
}

export const parseDesiredComment = (desired: unknown): z.output<typeof desiredComment> =>
  desiredComment.parse(desired);
