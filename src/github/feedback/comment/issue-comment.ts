import { z } from 'zod';
import { statusOf } from '../../github-error.ts';
import type { PendingItem } from '../outbox-store.ts';
import { type SendContext, target } from '../sender.ts';

/** GitHub refuses a longer one. It counts characters, of which there are never more than units of a string. */
export const maxCommentLength = 65_536;

const commentJson = z.object({ id: z.number().int() });
const listedCommentJson = commentJson.extend({
  body: z.string().nullish(),
  performed_via_github_app: z.object({ id: z.number().int() }).nullish(),
});

interface WantedComment {
  /** Of the pull request. */
  readonly number: number;
  /** Begins with the marker. */
  readonly body: string;
  /** Not shown: by it a comment whose creation we did not hear of is found again. */
  readonly marker: string;
}

/**
 * Makes or edits the one comment that an item is about; gives its id. At most one is made: when a create may have
 * succeeded without our hearing of it, the App's comments are searched for its marker first. One that somebody deleted
 * is made again.
 */
export async function putComment(
  { remoteId, createTried }: Pick<PendingItem, 'remoteId' | 'createTried'>,
  { number, body, marker }: WantedComment,
  appId: number,
  context: SendContext,
): Promise<number> {
  if (remoteId !== null && (await update(context, remoteId, body))) return remoteId;
  if (createTried) {
    const found = await findOurs(context, { number, marker, appId });
    if (found !== null && (await update(context, found, body))) return found;
  } else {
    await context.beforeCreate();
  }
  const wanted = { ...target(context), issue_number: number, body };
  return commentJson.parse((await context.octokit.rest.issues.createComment(wanted)).data).id;
}

async function findOurs(
  context: SendContext,
  { number, marker, appId }: { readonly number: number; readonly marker: string; readonly appId: number },
): Promise<number | null> {
  const { paginate, rest } = context.octokit;
  const question = { ...target(context), issue_number: number, per_page: 100 };
  for await (const { data } of paginate.iterator(rest.issues.listComments, question)) {
    const ours = data
      .map((json) => listedCommentJson.parse(json))
      // Anybody can write the marker.
      .find((json) => json.performed_via_github_app?.id === appId && json.body?.startsWith(marker));
    if (ours) return ours.id;
  }
  return null;
}

/** False when somebody deleted it. */
async function update(context: SendContext, id: number, body: string): Promise<boolean> {
  try {
    await context.octokit.rest.issues.updateComment({ ...target(context), comment_id: id, body });
    return true;
  } catch (error) {
    if (statusOf(error) === 404) return false;
    throw error;
  }
}
