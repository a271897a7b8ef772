import { z } from 'zod';

/** What the rules of a notification policy hold. A key that is not known is a mistake, and not left out in silence. */
export const notificationObjects = {
  inbox: z
    .strictObject({
      title: z.string().optional().describe('Head of the message.'),
      body: z.string().optional().describe('Text of the message.'),
      severity: z.enum(['INFO', 'WARNING', 'ERROR']).optional().describe('INFO when left out.'),
    })
    .describe('A message for the inbox of the account.'),
  webhook: z
    .strictObject({
      endpoint_id: z.string().min(1).describe('Id of one of `webhook_endpoints`.'),
      payload: z
        .json()
        .optional()
        .describe('Body of the request, as JSON; left out: that of the state change.'),
      method: z.literal('POST').optional().describe('Webhooks are sent with nothing else.'),
      headers: z.record(z.string(), z.string()).optional().describe('Headers of the request.'),
    })
    .describe('A request to an endpoint.'),
  pull_request: z
    .strictObject({
      id: z.int().positive().optional().describe('Number of the pull request.'),
      commit: z.string().optional().describe('Pull requests with this head commit.'),
      branch: z.string().optional().describe('Pull requests into this branch.'),
      body: z.string().optional().describe('Text of the comment.'),
      deduplication_key: z
        .string()
        .optional()
        .describe('A comment of the same key on the same pull request is edited instead of written anew.'),
    })
    .describe('A comment on pull requests; on that of the run when none is named.'),
};

export type InboxMessage = z.infer<(typeof notificationObjects)['inbox']>;
export type WebhookMessage = z.infer<(typeof notificationObjects)['webhook']>;
export type PullRequestMessage = z.infer<(typeof notificationObjects)['pull_request']>;
