import { type Actor, actorName } from '../access/actor.ts';
import type { AuditLog } from '../access/audit-log.ts';
import type { Access } from '../access/roles.ts';
import type { Stack } from '../stacks/stack.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import type { Transactions } from '../tx.ts';
import type { CreateRun, RunCommands } from './commands.ts';
import { isWriter } from './is-writer.ts';
import { type Act, type ButtonOutcome, createPressSettler, refusing } from './press.ts';
import type { RunStore } from './run-store.ts';
import type { Source } from './source.ts';

/** Somebody took an offer (offers.ts). */
export interface OfferPress {
  readonly stackKey: string;
  /** Of the commit that was offered. */
  readonly hash: string;
  /** Where the button was shown. */
  readonly repositoryId: number;
  /** GitHub's id of the check run that shows it. */
  readonly checkRunId: number;
  readonly actor: Actor;
  /** The same for every time that one press is told. */
  readonly deliveryId: string;
}

/** Makes the run that was offered. Safe to repeat for one delivery. Rejects when GitHub cannot be asked: try again. */
export function createOfferButton(parts: {
  stacks: Pick<StackStore, 'findByKey'>;
  runs: Pick<RunStore, 'newestOfType'>;
  access: Pick<Access, 'require'>;
  commands: Pick<RunCommands, 'create'>;
  source: Pick<Source, 'resolve' | 'compare'>;
  transactions: Transactions;
  audit: Pick<AuditLog, 'note'>;
}): (press: OfferPress) => Promise<ButtonOutcome> {
  const { stacks, runs, access, commands, source } = parts;
  const settle = createPressSettler(parts);

  async function decide(press: OfferPress, stack: Stack | null): Promise<Act> {
    const { hash, actor, deliveryId, stackKey } = press;
    // The same answer for both: what another repository runs is nobody's business here.
    if (!stack) return refusing('the repository has no such stack');
    const who = actorName(actor);
    if (!(await isWriter(access, actor, stack)))
      return refusing(`${who} may not deploy: needs the role writer`);
    const { branch } = stack.settings;
    const short = hash.slice(0, 7);
    // An offer may be days old.
    const commit = await source.resolve(stack.repository, branch, hash);
    if (!commit) return refusing(`${short} is not on ${branch} any more`);
    const newest = await runs.newestOfType(stackKey, 'TRACKED');
    if (newest && (await source.compare(stack.repository, newest.commit.hash, hash)) === 'behind') {
      return refusing(`${short} is older than the commit of run ${newest.id}`);
    }
    const request: CreateRun = {
      ...{ stackKey, type: 'TRACKED', branch, commit, by: actor },
      ...{ dedupeKey: `button:${deliveryId}`, unlessCommitHas: 'newest' },
    };
    return async (tx) => {
      const run = await commands.create(request, tx);
      const made = run === 'duplicate' ? 'there is a run for this commit already' : `run ${run.id}`;
      return { kind: 'done', note: `deploy by ${who}: ${made}`, run: run === 'duplicate' ? null : run.id };
    };
  }

  return async (press) => {
    const found = await stacks.findByKey(press.stackKey);
    const stack = found?.repository.id === press.repositoryId ? found : null;
    const shownBy = { checkRun: String(press.checkRunId) };
    return settle({ ...press, button: 'deploy', stack, shownBy }, await decide(press, stack));
  };
}
