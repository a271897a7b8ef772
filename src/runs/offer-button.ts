import { type Actor, actorName } from '../access/actor.ts';
import type { Access } from '../access/roles.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import { type ButtonOutcome, refused } from './buttons.ts';
import { commandRefusal } from './command-refusal.ts';
import type { RunCommands } from './commands.ts';
import { isWriter } from './is-writer.ts';
import type { RunStore } from './run-store.ts';
import type { Source } from './source.ts';

/** Somebody took an offer (offers.ts). */
export interface OfferPress {
  readonly stackKey: string;
  /** Of the commit that was offered. */
  readonly hash: string;
  /** Where the button was shown. */
  readonly repositoryId: number;
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
}): (press: OfferPress) => Promise<ButtonOutcome> {
  const { stacks, runs, access, commands, source } = parts;

  return async ({ stackKey, hash, repositoryId, actor, deliveryId }) => {
    const stack = await stacks.findByKey(stackKey);
    // The same answer for both: what another repository runs is nobody's business here.
    if (stack?.repository.id !== repositoryId) return refused('the repository has no such stack');
    const who = actorName(actor);
    if (!(await isWriter(access, actor, stack)))
      return refused(`${who} may not deploy: needs the role writer`);
    const { branch } = stack.settings;
    const short = hash.slice(0, 7);
    // An offer may be days old.
    const commit = await source.resolve(stack.repository, branch, hash);
    if (!commit) return refused(`${short} is not on ${branch} any more`);
    const newest = await runs.newestOfType(stackKey, 'TRACKED');
    if (newest && (await source.compare(stack.repository, newest.commit.hash, hash)) === 'behind') {
      return refused(`${short} is older than the commit of run ${newest.id}`);
    }
    try {
      const run = await commands.create({
        ...{ stackKey, type: 'TRACKED', branch, commit, by: actor },
        dedupeKey: `button:${deliveryId}`,
        unlessCommitHas: 'newest',
      });
      const made = run === 'duplicate' ? 'there is a run for this commit already' : `run ${run.id}`;
      return { kind: 'done', note: `deploy by ${who}: ${made}` };
    } catch (error) {
      return refused(commandRefusal(error).message);
    }
  };
}
