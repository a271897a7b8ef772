import { z } from 'zod';
import type { AddressedCommand } from '../../runs/comments/command.ts';
import type { PullRequestComment } from '../../runs/comments/comment.ts';
import { parseCommand } from '../comments/parse-command.ts';
import { installationReference, repositoryJson } from '../github-json.ts';
import type { KnownRepositories } from '../known-repositories.ts';
import { readContent } from '../pull-request-content.ts';
import type { LivePullRequest, PullRequestReader } from '../pull-request-reader.ts';
import { done, type EventHandler, ignored, notSeen, notUnderstood } from './event-handler.ts';
import { senderActor, senderJson } from './sender.ts';

export type OnComment = (comment: PullRequestComment) => Promise<string>;

const actionPart = z.object({ action: z.string() });

const payload = z.object({
  issue: z.object({
    number: z.number().int().positive(),
    // There is none in a plain issue.
    pull_request: z.object({}).nullish(),
  }),
  comment: z.object({
    id: z.number().int(),
    // Null for an empty one.
    body: z.string().nullish(),
    created_at: z.iso.datetime({ offset: true }).transform((text) => Date.parse(text)),
  }),
  sender: senderJson,
  repository: repositoryJson,
  installation: installationReference,
});
type CommentJson = z.output<typeof payload>;

/** Somebody wrote below a pull request; what comes of a command is decided in runs/comments. */
export function createIssueCommentHandler(parts: {
  repositories: Pick<KnownRepositories, 'remember'>;
  pullRequests: PullRequestReader;
  onComment: OnComment;
}): EventHandler {
  const { repositories, pullRequests } = parts;

  function told(
    { comment, sender }: CommentJson,
    command: AddressedCommand,
    live: LivePullRequest,
  ): PullRequestComment {
    const { repository, pullRequest, state, headHash, branch, mergeCommitHash } = live;
    const read = once(() => readContent(pullRequests, live, { login: sender.login, isBot: false }));
    return {
      id: comment.id,
      createdAtMs: comment.created_at,
      actor: senderActor(sender),
      command,
      pullRequest: { repository, pullRequest, state, headHash, branch, mergeCommitHash, read },
    };
  }

  return async (event) => {
    // By itself: whatever else edits and deletions hold is of no interest.
    const about = actionPart.safeParse(event.payload);
    if (!about.success) return notUnderstood(about.error);
    const { action } = about.data;
    if (action !== 'created') return ignored(`nothing is done for the action ${action}`);
    const parsed = payload.safeParse(event.payload);
    if (!parsed.success) return notUnderstood(parsed.error);
    const json = parsed.data;
    const { number, pull_request } = json.issue;
    if (!pull_request) return ignored(`#${number} is not a pull request`);
    // We are a bot ourselves.
    if (json.sender.type !== 'User') return ignored(`${json.sender.login} is not a person`);
    const command = parseCommand(json.comment.body ?? '');
    if (command.kind === 'none') return ignored('the comment is not a command');
    if (!(await repositories.remember(json.repository, json.installation.id))) {
      return ignored(notSeen(json.repository));
    }
    const live = await pullRequests.find(json.repository.id, number);
    if (!live) return ignored(`there is no pull request #${number} any more`);
    return done(await parts.onComment(told(json, command, live)));
  };
}

/** What is in a pull request costs requests, and more than one may want to know. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | null = null;
  return () => {
    asked ??= ask();
    return asked;
  };
}
