import { type AuditLog, type AuditResult, noSubject } from '../../access/audit-log.ts';
import type { Stack } from '../../stacks/stack.ts';
import type { Tx } from '../../tx.ts';
import type { AnswerBody, Outcome } from '../conversation.ts';
import type { PullRequestComment } from './comment.ts';
import { verbFacts } from './verbs.ts';

/** Writes down what comments ask for and what came of it; what only tells something is not written down. */
export interface CommandAudit {
  ofStack(tx: Tx, comment: PullRequestComment, stack: Stack, outcome: Outcome): Promise<void>;
  /** For answers to a command as a whole: refused before it was about any stack. */
  ofWhole(tx: Tx, comment: PullRequestComment, answer: AnswerBody): Promise<void>;
}

type Result = Omit<AuditResult, 'status'>;

export function createCommandAudit(audit: Pick<AuditLog, 'note'>): CommandAudit {
  function entryOf({ id, actor, command, pullRequest }: PullRequestComment) {
    return {
      actor,
      origin: { via: 'comment', address: null, forwardedFor: null } as const,
      operation: `comment ${command.kind === 'command' ? command.verb : 'misunderstood'}`,
      params: { comment: String(id), pullRequest: String(pullRequest.pullRequest.number) },
    };
  }

  return {
    async ofStack(tx, comment, { repository, account, id }, outcome) {
      const run = 'run' in outcome ? outcome.run.id : null;
      const subject = { repositoryId: repository.id, account, stack: id, run };
      const refusal = outcome.kind === 'refused' ? outcome.refusal.code : null;
      const result: Result = { outcome: refusal === null ? 'done' : 'refused', note: refusal };
      await audit.note(tx, { ...entryOf(comment), subject }, result);
    },

    async ofWhole(tx, comment, answer) {
      const { command } = comment;
      const isChange = command.kind === 'command' && verbFacts[command.verb].needs !== 'reader';
      const note = noteOf(answer);
      if (!isChange || note === null) return;
      const { repository } = comment.pullRequest;
      const [account = null] = repository.fullName.split('/');
      const subject = { ...noSubject, repositoryId: repository.id, account };
      await audit.note(tx, { ...entryOf(comment), subject }, { outcome: 'refused', note });
    },
  };
}

/** Null for what is no refusal of the whole. */
function noteOf(answer: AnswerBody): string | null {
  if (answer.kind === 'forbidden') return `needs the role ${answer.needs}`;
  return answer.kind === 'refused' ? answer.refusal.code : null;
}
