import type { RunStore } from '../../runs/run-store.ts';
import type { StackStore } from '../../stacks/stack-store.ts';
import { checkRunSender } from './check-run-sender.ts';
import { createCommentSender } from './comment/comment-sender.ts';
import { createDeploymentSender } from './deployment-sender.ts';
import type { OutboxKind } from './outbox-store.ts';
import { reactionSender } from './reaction.ts';
import type { Sender } from './sender.ts';

export interface SenderParts {
  readonly stacks: Pick<StackStore, 'ofRepository'>;
  readonly runs: Pick<RunStore, 'find' | 'ofPullRequest'>;
  readonly appId: number;
  /** Of GitHub's pages. */
  readonly webUrl: string;
  /** Asked late: it may follow from the address that the server listens on. */
  readonly publicUrl: () => string;
  readonly isSandboxed: boolean;
}

export function createSenders(parts: SenderParts): Readonly<Record<OutboxKind, Sender>> {
  return {
    check_run: checkRunSender,
    comment: createCommentSender(parts),
    reaction: reactionSender,
    deployment: createDeploymentSender(parts),
  };
}
