import { type Actor, actorKey, actorName, type Role } from '../access/actor.ts';
import type { AuditLog } from '../access/audit-log.ts';
import type { Access } from '../access/roles.ts';
import type { Commit } from '../stacks/repository.ts';
import type { Stack } from '../stacks/stack.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import type { Transactions } from '../tx.ts';
import { isReviewed, type Verdict } from './approvals/review.ts';
import type { Reviewing } from './approvals/reviewing.ts';
import type { CommandResult, RunCommands } from './commands.ts';
import { askBeforeRetry, askWhatIsMissing, lacksText } from './deploy-rules.ts';
import { writerRole } from './is-writer.ts';
import { type Act, type ButtonOutcome, createPressSettler, refused, refusing } from './press.ts';
import { previewAnew } from './preview-anew.ts';
import type { Run } from './run.ts';
import type { RunStore } from './run-store.ts';
import type { Source } from './source.ts';

/**
 * Decides about a button that somebody pressed where a run is shown: whether the run is one of that
 * repository, whether the person may, whether the run's state allows it. It refuses to know who shows buttons
 * and how a press arrives; nobody waits for the answer, so every refusal is a value with its reason.
 */
export interface Buttons {
  /** Safe to repeat for one delivery. Rejects when GitHub cannot be asked who may do what: try again. */
  press(press: ButtonPress): Promise<ButtonOutcome>;
}

const buttons = [
  ...(['confirm', 'discard', 'cancel', 'stop', 'retry', 'preview', 'deploy'] as const),
  // Of a run that has not begun, and of a plan.
  ...(['approve-start', 'reject-start', 'approve', 'reject'] as const),
];
export type Button = (typeof buttons)[number];

export interface ButtonPress {
  /** As it came; it need not be one of ours. */
  readonly button: string;
  readonly runId: string;
  /** Where the button was shown. */
  readonly repositoryId: number;
  /** GitHub's id of the check run that shows it. */
  readonly checkRunId: number;
  readonly actor: Actor;
  /** The same for every time that one press is told. */
  readonly deliveryId: string;
}

const short = ({ hash }: Commit): string => hash.slice(0, 7);

export function createButtons(parts: {
  runs: Pick<RunStore, 'find' | 'newestFinished' | 'newestOfBranch' | 'newestOfCommit' | 'unfinished'>;
  stacks: Pick<StackStore, 'findByKey'>;
  access: Pick<Access, 'require'>;
  commands: RunCommands;
  reviewing: Pick<Reviewing, 'review'>;
  source: Pick<Source, 'resolve' | 'compare'>;
  transactions: Transactions;
  audit: Pick<AuditLog, 'note'>;
}): Buttons {
  const { runs, stacks, access, commands, source } = parts;

  const settle = createPressSettler(parts);

  /** The head of the branch that a run is of, as it is now; a reason when there is none to act on. */
  async function headOf(run: Run, stack: Stack): Promise<Commit | string> {
    if (run.pullRequest?.isFork) return 'the branch is one of a fork';
    const head = await source.resolve(stack.repository, run.branch, null);
    return head ?? `there is no branch ${run.branch} any more`;
  }

  async function preview(run: Run, stack: Stack, press: ButtonPress): Promise<Act> {
    const head = await headOf(run, stack);
    if (typeof head === 'string') return refusing(head);
    const what = `previewed ${short(head)} of ${run.branch}`;
    const request = await previewAnew(runs, run, stack, head, byOf(press));
    return async (tx) => made(press, what, await commands.create(request, tx));
  }

  async function deploy(run: Run, stack: Stack, press: ButtonPress): Promise<Act> {
    const { commit, branch, pullRequest } = run;
    if (run.type !== 'PROPOSED' || run.state !== 'FINISHED') {
      return refusing(`the ${run.type} run is ${run.state}: only what was previewed can be deployed`);
    }
    if (pullRequest?.isFork) return refusing('what comes from a fork is never deployed before it is merged');
    const head = await headOf(run, stack);
    if (typeof head === 'string') return refusing(head);
    if (head.hash !== commit.hash) {
      return refusing(`the head of ${branch} is ${short(head)} now, and the preview is of ${short(commit)}`);
    }
    const missing = await askWhatIsMissing({ runs, source }, stack, commit.hash);
    return async (tx) => {
      const { promotion } = (await stacks.findByKey(stack.key, tx))?.settings ?? stack.settings;
      if (!promotion) return refused('the stack takes commits of its own branch only: promotion is off');
      const lacks = await missing(tx);
      if (lacks) return refused(lacksText(commit.hash, lacks));
      const what = { stackKey: stack.key, type: 'TRACKED', branch, commit } as const;
      const request = { ...what, ...(pullRequest ? { pullRequest } : {}), ...byOf(press) };
      return made(press, `deployed ${short(commit)} of ${branch}`, await commands.create(request, tx));
    };
  }

  async function retry(run: Run, stack: Stack, press: ButtonPress): Promise<Act> {
    const missing = await askBeforeRetry({ runs, source }, stack, run);
    return async (tx) => {
      const lacks = await missing(tx);
      if (lacks) return refused(lacksText(run.commit.hash, lacks));
      return made(press, `retried run ${run.id}`, await commands.retry(run.id, byOf(press), tx));
    };
  }

  /** As with `commands[button]` below, the state tells whether the person saw what there is: so there are two pairs. */
  function review(verdict: Verdict, isStart: boolean, run: Run, press: ButtonPress, role: Role): Act {
    const { actor } = press;
    const reviewer = { key: actorKey(actor), name: actorName(actor) };
    return async (tx) => {
      const now = (await runs.find(run.id, tx)) ?? run;
      if (!isReviewed(now.state) || (now.state === 'QUEUED') !== isStart) {
        return refused(`the run is ${now.state}`);
      }
      const request = { verdict, reviewer, role, via: 'check' } as const;
      return told(reviewer.name, verdict, await parts.reviewing.review(run.id, request, tx));
    };
  }

  async function decide(
    button: Button,
    run: Run,
    stack: Stack,
    press: ButtonPress,
    role: Role,
  ): Promise<Act> {
    switch (button) {
      case 'approve-start':
      case 'approve':
        return review('approve', button === 'approve-start', run, press, role);
      case 'reject-start':
      case 'reject':
        return review('reject', button === 'reject-start', run, press, role);
      case 'retry':
        return retry(run, stack, press);
      case 'preview':
        return preview(run, stack, press);
      case 'deploy':
        return deploy(run, stack, press);
      default: {
        const actor = actorName(press.actor);
        // No stateVersion: a state that shows a button is never entered again once that button worked, and a
        // plan that waits is not replaced, so the state alone tells whether the person saw what is there now.
        return async (tx) => told(actor, button, await commands[button](run.id, { actor }, tx));
      }
    }
  }

  return {
    async press(press) {
      const button = buttons.find((each) => each === press.button);
      if (!button) return refused(`nothing is done for the button ${press.button}`);
      const run = await runs.find(press.runId);
      const found = run && (await stacks.findByKey(run.stackKey));
      const stack = found?.repository.id === press.repositoryId ? found : null;
      const pressed = { ...press, button, stack, shownBy: { checkRun: String(press.checkRunId) } };
      // The same answer for both: what another repository runs is nobody's business here.
      if (!run || !stack) return settle(pressed, refusing('the repository has no such run'));
      const role = await writerRole(access, press.actor, stack);
      if (role === null) {
        const reason = `${actorName(press.actor)} may not ${button}: needs the role writer`;
        return settle(pressed, refusing(reason));
      }
      return settle(pressed, await decide(button, run, stack, press, role));
    },
  };
}

/** A press that is told twice makes one run. */
const byOf = ({ actor, deliveryId }: ButtonPress) => ({ by: actor, dedupeKey: `button:${deliveryId}` });

function made({ actor }: ButtonPress, what: string, run: Run | 'duplicate'): ButtonOutcome {
  const [id, words] = run === 'duplicate' ? [null, 'its run was made before'] : [run.id, `run ${run.id}`];
  return { kind: 'done', note: `${actorName(actor)} ${what}: ${words}`, run: id };
}

function told(actor: string, button: Button | Verdict, result: CommandResult): ButtonOutcome {
  if (result.kind === 'conflict') return refused(`the run is ${result.state}`);
  const { id, state } = result.run;
  return { kind: 'done', note: `${button} by ${actor}: run ${id} is ${state}`, run: id };
}
