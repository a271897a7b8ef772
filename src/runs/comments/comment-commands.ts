import { actorName, type Role } from '../../access/actor.ts';
import type { AuditLog } from '../../access/audit-log.ts';
import { type Access, includesRole } from '../../access/roles.ts';
import type { Clock } from '../../clock.ts';
import type { StackStore } from '../../stacks/stack-store.ts';
import type { Stacks } from '../../stacks/stacks.ts';
import type { Transactions, Tx } from '../../tx.ts';
import type { Gates } from '../approvals/gates.ts';
import type { Reviewing } from '../approvals/reviewing.ts';
import type { RunCommands } from '../commands.ts';
import type { AnswerBody, Conversation } from '../conversation.ts';
import type { RunStore } from '../run-store.ts';
import type { Source } from '../source.ts';
import type { Order, Reference } from './act.ts';
import { createActOnStacks } from './act-on-stacks.ts';
import { createActs } from './acts.ts';
import { answerNote } from './answer-note.ts';
import type { AnsweredComments } from './answered-comments.ts';
import { createCommandAudit } from './command-audit.ts';
import type { PullRequestComment } from './comment.ts';
import { explain } from './explain.ts';
import { chooseStacks, namesOf } from './select-stacks.ts';
import { createStatus } from './status.ts';
import { verbFacts } from './verbs.ts';

/**
 * Does what comments of pull requests ask for, as far as their writers may. Whatever comes of it is an answer, written in
 * the transaction that acts; a comment acts once, however often it is told.
 */
export interface CommentCommands {
  /** Says what came of it, for the record. Rejects when GitHub cannot be asked: try again. */
  handle(comment: PullRequestComment): Promise<string>;
}

export interface CommentCommandParts {
  readonly runs: RunStore;
  readonly stackStore: Pick<StackStore, 'ofRepository' | 'findByKey'>;
  readonly stacks: Pick<Stacks, 'lock' | 'unlock'>;
  readonly access: Pick<Access, 'roleOf'>;
  readonly commands: RunCommands;
  readonly reviewing: Reviewing;
  readonly gates: Gates;
  readonly source: Pick<Source, 'compare' | 'resolve'>;
  readonly conversation: Conversation;
  readonly answered: Pick<AnsweredComments, 'has' | 'add'>;
  readonly audit: Pick<AuditLog, 'note'>;
  readonly clock: Clock;
  readonly transactions: Transactions;
  /** Address of a run's page. */
  readonly runUrl: (runId: string) => string;
}

/** Asked before the transaction that answers; what is left to do inside it. */
type Answering = (tx: Tx) => Promise<AnswerBody>;

const saying =
  (body: AnswerBody): Answering =>
  () =>
    Promise.resolve(body);

const answeredBefore = 'the comment was answered before';

export function createCommentCommands(parts: CommentCommandParts): CommentCommands {
  const { stackStore, access, conversation, answered, transactions, clock } = parts;
  const reference: Reference = ({ id, type, state }) => ({ id, type, state, url: parts.runUrl(id) });
  const acts = createActs({ ...parts, reference });
  const audit = createCommandAudit(parts.audit);
  const actOn = createActOnStacks({ ...parts, audit });
  const standing = createStatus({ ...parts, reference });

  async function roleOf({ actor, pullRequest: { repository } }: PullRequestComment): Promise<Role | null> {
    const [account = ''] = repository.fullName.split('/');
    return access.roleOf(actor, { account, repository });
  }

  async function answering(comment: PullRequestComment): Promise<Answering> {
    const { command } = comment;
    const role = await roleOf(comment);
    const needs = command.kind === 'command' ? verbFacts[command.verb].needs : 'reader';
    if (role === null || !includesRole(role, needs)) return saying({ kind: 'forbidden', needs, role });
    if (command.kind === 'misunderstood') return saying(command);
    // Whose lock it is decides, too, whether that may be unlocked.
    if (command.verb !== 'unlock') await acknowledge(comment);
    return ordered({ comment, command, role });
  }

  /** At once: what else has to be asked can take long, and GitHub may fail meanwhile. */
  async function acknowledge(comment: PullRequestComment): Promise<void> {
    await transactions.write((tx) => conversation.react(tx, placeOf(comment), 'eyes'));
  }

  async function ordered(order: Order): Promise<Answering> {
    const { command, comment, role } = order;
    const { pullRequest } = comment;
    const { verb } = command;
    if (verb === 'help') return saying({ kind: 'help' });
    const all = await stackStore.ofRepository(pullRequest.repository.id);
    if (verb === 'explain' && command.stacks === null && all.length > 0) {
      return saying(await explain(all, pullRequest, role));
    }
    const chosen = await chooseStacks(all, command.stacks, pullRequest);
    if (chosen.kind === 'refused') return saying({ kind: 'refused', refusal: chosen.refusal });
    const { stacks } = chosen;
    if (verb === 'explain') return saying(await explain(stacks, pullRequest, role));
    if (verb === 'status') {
      const standings = await Promise.all(stacks.map((stack) => standing(stack, pullRequest)));
      return saying({ kind: 'status', stacks: standings });
    }
    if (verb === 'task' && command.stacks === null && stacks.length > 1) {
      return saying({ kind: 'refused', refusal: { code: 'one-stack-only', stacks: namesOf(stacks) } });
    }
    return actOn(stacks, order, acts(verb));
  }

  return {
    async handle(comment) {
      const { repository, pullRequest } = comment.pullRequest;
      if (await answered.has(comment.id)) return answeredBefore;
      const answer = await answering(comment);
      return transactions.write(async (tx) => {
        if (await answered.has(comment.id, tx)) return answeredBefore;
        const body = await answer(tx);
        await audit.ofWhole(tx, comment, body);
        const said = { ...headOf(comment), ...body };
        await answered.add(tx, comment.id, clock.nowMs());
        await conversation.react(tx, placeOf(comment), isForbidden(said) ? '-1' : 'eyes');
        await conversation.answer(tx, { repositoryId: repository.id, number: pullRequest.number }, said);
        return answerNote(said);
      });
    },
  };
}

const placeOf = ({ id, pullRequest }: PullRequestComment) => ({
  repositoryId: pullRequest.repository.id,
  commentId: id,
});

function headOf({ id, actor, command }: PullRequestComment) {
  const head = { commentId: id, by: actorName(actor) };
  if (command.kind === 'misunderstood') return { ...head, verb: null, glob: null };
  return { ...head, verb: command.verb, glob: command.stacks };
}

/** Whether nothing was done for want of a permission. */
function isForbidden(body: AnswerBody): boolean {
  if (body.kind !== 'acted') return body.kind === 'forbidden';
  return body.outcomes.every(
    (outcome) => outcome.kind === 'refused' && outcome.refusal.code === 'lock-not-yours',
  );
}
