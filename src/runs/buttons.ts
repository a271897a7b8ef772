import { type Actor, actorName } from '../access/actor.ts';
import type { Access } from '../access/roles.ts';
import type { Stack } from '../stacks/stack.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import { UserError } from '../user-error.ts';
import { commandRefusal } from './command-refusal.ts';
import type { CommandResult, RunCommands } from './commands.ts';
import type { Run } from './run.ts';
import type { RunStore } from './run-store.ts';

/**
 * Decides about a button that somebody pressed where a run is shown: whether the run is one of that
 * repository, whether the person may, whether the run's state allows it. It refuses to know who shows buttons
 * and how a press arrives; nobody waits for the answer, so every refusal is a value with its reason.
 */
export interface Buttons {
  /** Safe to repeat for one delivery. Rejects when GitHub cannot be asked who may do what: try again. */
  press(press: ButtonPress): Promise<ButtonOutcome>;
}

const buttons = ['confirm', 'discard', 'cancel', 'stop', 'retry'] as const;
export type Button = (typeof buttons)[number];

export interface ButtonPress {
  /** As it came; it need not be one of ours. */
  readonly button: string;
  readonly runId: string;
  /** Where the button was shown. */
  readonly repositoryId: number;
  readonly actor: Actor;
  /** The same for every time that one press is told. */
  readonly deliveryId: string;
}

export type ButtonOutcome =
  | { readonly kind: 'done'; readonly note: string }
  | { readonly kind: 'refused'; readonly reason: string };

export const refused = (reason: string): ButtonOutcome => ({ kind: 'refused', reason });

export function createButtons(parts: {
  runs: Pick<RunStore, 'find'>;
  stacks: Pick<StackStore, 'findByKey'>;
  access: Pick<Access, 'require'>;
  commands: RunCommands;
}): Buttons {
  const { runs, stacks, access, commands } = parts;

  async function retry(run: Run, { actor, deliveryId }: ButtonPress): Promise<ButtonOutcome> {
    const again = await commands.retry(run.id, {
      by: actor,
      // A press that is told twice makes one run.
      dedupeKey: `button:${deliveryId}`,
    });
    const made = again === 'duplicate' ? 'its run was made before' : `run ${again.id}`;
    return { kind: 'done', note: `${actorName(actor)} retried run ${run.id}: ${made}` };
  }

  async function decide(button: Button, run: Run, press: ButtonPress): Promise<ButtonOutcome> {
    const actor = actorName(press.actor);
    if (button === 'retry') return retry(run, press);
    // No stateVersion: a state that shows a button is never entered again once that button worked, and a
    // plan that waits is not replaced, so the state alone tells whether the person saw what is there now.
    return told(actor, button, await commands[button](run.id, { actor }));
  }

  return {
    async press(press) {
      const button = buttons.find((each) => each === press.button);
      if (!button) return refused(`nothing is done for the button ${press.button}`);
      const run = await runs.find(press.runId);
      const stack = run && (await stacks.findByKey(run.stackKey));
      // The same answer for both: what another repository runs is nobody's business here.
      if (!run || stack?.repository.id !== press.repositoryId) {
        return refused('the repository has no such run');
      }
      if (!(await isWriter(access, press.actor, stack))) {
        return refused(`${actorName(press.actor)} may not ${button}: needs the role writer`);
      }
      try {
        return await decide(button, run, press);
      } catch (error) {
        return refused(commandRefusal(error).message);
      }
    },
  };
}

export async function isWriter(
  access: Pick<Access, 'require'>,
  actor: Actor,
  { account, repository }: Stack,
): Promise<boolean> {
  try {
    return (await access.require(actor, account, repository, 'writer')) !== null;
  } catch (error) {
    if (error instanceof UserError && error.code === 'forbidden') return false;
    throw error;
  }
}

function told(actor: string, button: Button, result: CommandResult): ButtonOutcome {
  if (result.kind === 'conflict') return refused(`the run is ${result.state}`);
  const { id, state } = result.run;
  return { kind: 'done', note: `${button} by ${actor}: run ${id} is ${state}` };
}
