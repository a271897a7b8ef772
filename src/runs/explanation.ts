import type { StackLock } from '../stacks/stack.ts';
import type { ToolTrouble } from '../stacks/vendor-settings.ts';
import type { Blocker } from './blocker.ts';
import { type ConsequenceFacts, consequenceOf } from './explaining/consequences.ts';
import { mendConsequence } from './explaining/mend-consequence.ts';
import { runSentence, type ToldRun } from './explaining/sentence.ts';
import { type RunVerb, verbsFor, wordsOf } from './explaining/verbs.ts';
import type { MendStanding } from './mending.ts';
import type { RunState } from './run.ts';

/** What happened to a run and what people can do next, in the order in which they do it. Pure. */
export interface Explanation {
  readonly happened: string;
  readonly next: readonly NextStep[];
}

export interface NextStep {
  readonly text: string;
  /** Of our command line. */
  readonly command?: string;
  /** What a button of the run's page does. */
  readonly action?: NextAction;
}
export type NextAction = RunVerb | 'mend' | 'override' | 'unlock';

export interface ExplainedRun {
  readonly run: Omit<ToldRun, 'blockedBy'> & ConsequenceFacts['run'] & { readonly id: string };
  readonly stack: ConsequenceFacts['stack'] & {
    readonly account: string;
    readonly id: string;
    readonly lock: Pick<StackLock, 'holder' | 'reason' | 'run'> | null;
  };
  readonly blocker: Blocker | null;
  readonly trouble: ToolTrouble | null;
  /** Of the trouble; null without one. */
  readonly mend: MendStanding | null;
  /** Who brought it into this state, and the state before. */
  readonly actor: string;
  readonly cameFrom: RunState | null;
}

export function explain(facts: ExplainedRun): Explanation {
  const { stack, blocker, actor, cameFrom } = facts;
  const run = { ...facts.run, blockedBy: blocker ?? undefined };
  const happened = runSentence({ run, autodeploy: stack.autodeploy, actor, cameFrom });
  const next = [...reading(run), ...waitingFor(facts), ...mending(facts), ...asking({ ...facts, run })];
  return { happened, next };
}

function reading({ id, state }: ExplainedRun['run']): NextStep[] {
  if (state !== 'FAILED') return [];
  return [{ text: 'Read in the log what was said.', command: `slipway run logs ${id}` }];
}

/** What keeps it back, as far as somebody can do something about it. */
function waitingFor({ run, stack, blocker }: ExplainedRun): NextStep[] {
  const isLeftLocked = run.state === 'FAILED' && stack.lock !== null && stack.lock.run === run.id;
  if (isLeftLocked) {
    const text =
      'Check the real state: see whether what the run was doing is done. Then unlock the stack. Where the tool notes what it begins, the next run looks for what is half done before it plans.';
    return [unlock(stack, text)];
  }
  switch (blocker?.kind) {
    case 'run':
      return [
        {
          text: `Wait for run ${blocker.run}, which is ${blocker.state}.`,
          command: explainCommand(blocker.run),
        },
      ];
    case 'lock':
      return [unlock(stack, lockedBy(blocker.holder, blocker.reason))];
    case 'repository':
      return [{ text: `It waits until GitHub lets the App work in the repository: ${blocker.reason}.` }];
    case 'approval':
      return [{ text: `It waits for approval: ${blocker.reason}.` }];
    case undefined:
      return [];
  }
}

function mending({ run, stack, trouble, mend }: ExplainedRun): NextStep[] {
  if (!trouble || !mend) return [];
  const step: NextStep = {
    text: mendConsequence(trouble),
    command: `slipway run mend ${run.id}`,
    action: 'mend',
  };
  switch (mend.kind) {
    case 'possible':
      return [step];
    case 'locked':
      return [unlock(stack, lockedBy(mend.holder, mend.reason)), step];
    case 'under-way':
      return [
        { text: `Wait for run ${mend.run}: it may be what mends this.`, command: explainCommand(mend.run) },
      ];
    case 'past':
      return [
        {
          text: `Look at run ${mend.run}: it came since and says how the state is.`,
          command: explainCommand(mend.run),
        },
      ];
    case 'preview':
      return [{ text: 'Previews are not mended: start a run of the tracked branch and mend what it meets.' }];
    case 'unknown':
      return [];
  }
}

/** What may be asked of it as it stands; of what went well nothing has to be. */
function asking({ run, stack }: ConsequenceFacts & Pick<ExplainedRun, 'run'>): NextStep[] {
  if (run.state === 'FINISHED') return [];
  const asked = verbsFor(run).map((verb) => ({
    text: `${wordsOf(verb, run)}: ${consequenceOf(verb, { run, stack })}`,
    command: commandOf(verb, { run, stack }),
    action: verb,
  }));
  return [...overriding(run), ...asked];
}

function overriding({ id, outcome }: ExplainedRun['run']): NextStep[] {
  if (outcome !== 'policy_denied') return [];
  const text = 'An administrator of the stack can let exactly these changes pass.';
  return [{ text, command: `slipway run override ${id} --reason '...'`, action: 'override' }];
}

function commandOf(verb: RunVerb, { run, stack }: ConsequenceFacts & Pick<ExplainedRun, 'run'>): string {
  const command = `slipway run ${verb} ${run.id}`;
  return verb === 'confirm' && run.type === 'DESTROY'
    ? `${command} --confirmation '${stack.name.replaceAll("'", "'\\''")}'`
    : command;
}

const unlock = ({ account, id }: ExplainedRun['stack'], text: string): NextStep => ({
  text,
  command: `slipway stack unlock ${account}/${id}`,
  action: 'unlock',
});

const lockedBy = (holder: string, reason: string): string =>
  `The stack is locked by ${holder}${reason === '' ? '' : `: ${reason}`}. It has to be unlocked, by the holder or an administrator.`;

const explainCommand = (run: string): string => `slipway run explain ${run}`;
