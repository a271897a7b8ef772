import { type Actor, actorName } from '../access/actor.ts';
import type { AuditLog } from '../access/audit-log.ts';
import type { Access } from '../access/roles.ts';
import type { Stack } from '../stacks/stack.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import type { Transactions } from '../tx.ts';
import type { RunCommands } from './commands.ts';
import { askBeforeRetry, lacksText } from './deploy-rules.ts';
import { isWriter } from './is-writer.ts';
import { createPressSettler, refused, refusing, type ShownBy } from './press.ts';
import { isTerminal, type RunType } from './run.ts';
import type { RunStore } from './run-store.ts';
import type { Source } from './source.ts';

/** Runs of a commit that failed are run once more, all at once. */
export interface Reruns {
  /**
   * What came of each stack that has such runs; a stack's newest run of a type counts. Safe to repeat for one
   * delivery. Rejects when GitHub cannot be asked who may do what: try again.
   */
  again(request: RerunRequest): Promise<readonly string[]>;
}

export interface RerunRequest {
  readonly repositoryId: number;
  readonly commit: string;
  readonly types: readonly RunType[];
  readonly concerns: (stack: Stack) => boolean;
  readonly shownBy: ShownBy;
  readonly actor: Actor;
  /** The same for every time that one press is told. */
  readonly deliveryId: string;
}

export function createReruns(parts: {
  runs: Pick<RunStore, 'newestOfCommit' | 'newestFinished' | 'unfinished'>;
  stacks: Pick<StackStore, 'ofRepository'>;
  access: Pick<Access, 'require'>;
  commands: Pick<RunCommands, 'retry'>;
  source: Pick<Source, 'compare'>;
  transactions: Transactions;
  audit: Pick<AuditLog, 'note'>;
}): Reruns {
  const { runs, stacks, access, commands } = parts;
  const settle = createPressSettler(parts);

  async function retry(stack: Stack, type: RunType, request: RerunRequest): Promise<string | null> {
    const { commit, actor, deliveryId } = request;
    // A press that is told twice makes one run of a stack and type.
    const dedupeKey = `rerun:${deliveryId}:${type}`;
    const run = await runs.newestOfCommit(stack.key, type, commit, 'any');
    if (!run || !isTerminal(run.state) || run.state === 'FINISHED') return null;
    const missing = await askBeforeRetry(parts, stack, run);
    const pressed = { ...request, button: 'retry', stack };
    const outcome = await settle(pressed, async (tx) => {
      const lacks = await missing(tx);
      if (lacks) return refused(lacksText(commit, lacks));
      const again = await commands.retry(run.id, { by: actor, dedupeKey }, tx);
      const [id, made] =
        again === 'duplicate' ? [null, 'its run was made before'] : [again.id, `run ${again.id}`];
      return { kind: 'done', note: `${actorName(actor)} retried run ${run.id}: ${made}`, run: id };
    });
    return `${stack.id}: ${outcome.kind === 'done' ? outcome.note : outcome.reason}`;
  }

  return {
    async again(request) {
      const all = await stacks.ofRepository(request.repositoryId);
      const concerned = all.filter(request.concerns);
      const [first] = concerned;
      if (!first) return ['no stack of the repository is concerned'];
      // Rights are those on the repository, the same for all of its stacks.
      if (!(await isWriter(access, request.actor, first))) {
        const reason = `${actorName(request.actor)} may not retry: needs the role writer`;
        await settle({ ...request, button: 'retry', stack: first }, refusing(reason));
        return [reason];
      }
      const notes: string[] = [];
      for (const stack of concerned) {
        for (const type of request.types) {
          const note = await retry(stack, type, request);
          if (note !== null) notes.push(note);
        }
      }
      return notes.length > 0 ? notes : ['no run of the commit failed'];
    },
  };
}
