import type { RunStore } from '../../runs/run-store.ts';
import { createCheckRunSender } from './check-run-sender.ts';
import { createCommentSender } from './comment/comment-sender.ts';
import { createPolicyCommentSender } from './comment/policy-comment.ts';
import { type ComposeParts, createComposeCheck } from './compose-check.ts';
import { createDeploymentSender } from './deployment-sender.ts';
import type { OutboxKind } from './outbox-store.ts';
import { reactionSender } from './reaction.ts';
import type { Sender } from './sender.ts';

export interface SenderParts extends ComposeParts {
  readonly runs: ComposeParts['runs'] & Pick<RunStore, 'ofPullRequest'>;
  readonly appId: number;
  /** Of GitHub's pages. */
  readonly webUrl: string;
}

export function createSenders(parts: SenderParts): Readonly<Record<OutboxKind, Sender>> {
  return {
    check_run: createCheckRunSender(createComposeCheck(parts)),
    comment: createCommentSender(parts),
    policy_comment: createPolicyCommentSender(parts),
    reaction: reactionSender,
    deployment: createDeploymentSender(parts),
  };
}
