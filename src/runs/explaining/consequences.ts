import type { RunState } from '../run.ts';
import type { ToldRun } from './sentence.ts';
import type { RunVerb } from './verbs.ts';

export interface ConsequenceFacts {
  readonly run: ToldRun & { readonly commit: { readonly hash: string } };
  readonly stack: { readonly name: string; readonly autodeploy: boolean; readonly planBinding: boolean };
}

/** What happens when somebody presses the button, in a sentence or two. Pure. */
export function consequenceOf(verb: RunVerb, { run, stack }: ConsequenceFacts): string {
  switch (verb) {
    case 'approve':
      return `The approval policies of the stack go by it. ${approved[run.state] ?? ''}`.trim();
    case 'reject':
      return 'The approval policies of the stack go by it: where they say so, the run fails.';
    case 'confirm':
      return confirmed(run, stack);
    case 'discard':
      return run.type === 'DESTROY'
        ? 'The run is over. Nothing is destroyed.'
        : 'The run is over. Nothing is applied; the next run plans anew.';
    case 'cancel':
      return 'The run is over before it begins. Nothing was changed.';
    case 'stop':
      return 'The tool is interrupted and the run is over. Nothing was changed.';
    case 'prioritize':
      return 'It goes before everything else that waits in this stack. What is under way goes on.';
    case 'retry':
      return again(run, stack.autodeploy);
  }
}

/** What comes once they let the run go on. */
const approved: Partial<Readonly<Record<RunState, string>>> = {
  QUEUED: 'Once they let it, the run starts by itself.',
  UNCONFIRMED: 'Once they let it, somebody still has to confirm the plan.',
  PENDING_REVIEW: 'Once they let it, the preview ends; nothing is changed by it.',
};

function confirmed(run: ConsequenceFacts['run'], { name, planBinding }: ConsequenceFacts['stack']): string {
  const what = `${counts(run)} in ${name}`;
  const commit = `commit ${run.commit.hash.slice(0, 7)}`;
  if (run.type === 'DESTROY') {
    const bound = planBinding ? ' If the tool would destroy anything else by then, the run fails.' : '';
    return `${what}: every resource of the stack is destroyed. That cannot be undone.${bound}`;
  }
  return planBinding
    ? `${what} by ${commit}. This plan is what is applied.`
    : `${what} by ${commit}, as planned. The tool looks once more and applies what it finds then: plan binding is off.`;
}

/** "2 created, 1 deleted" */
function counts({ delta }: ToldRun): string {
  const { added = 0, changed = 0, deleted = 0 } = delta ?? {};
  const parts = [
    added > 0 ? `${added} created` : '',
    changed > 0 ? `${changed} changed` : '',
    deleted > 0 ? `${deleted} deleted` : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'No resource is created, changed or deleted' : parts.join(', ');
}

function again({ type, commit }: ConsequenceFacts['run'], autodeploy: boolean): string {
  const begin = `A new run of commit ${commit.hash.slice(0, 7)} is queued.`;
  switch (type) {
    case 'PROPOSED':
      return `${begin} It changes nothing.`;
    case 'TRACKED':
      return autodeploy
        ? `${begin} What it plans is applied at once: the stack has autodeploy.`
        : `${begin} What it plans waits for somebody to confirm it.`;
    case 'TASK':
      return `${begin} The command is run once more.`;
    case 'DESTROY':
      return `${begin} Nothing is destroyed until somebody confirms it.`;
  }
}
