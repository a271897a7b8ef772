import type { Role } from '../../access/actor.ts';

/** What a comment can ask for: the one table that the parser, the rights, the help and the answers go by. */
interface VerbFacts {
  /** The least role that may. `unlock` of somebody else's lock needs more: stacks/may-unlock.ts. */
  readonly needs: Role;
  /** How it is written behind `/slipway`. */
  readonly usage: string;
  /** What it does, as one line without a full stop. */
  readonly does: string;
}

const table = {
  help: { needs: 'reader', usage: 'help', does: 'shows this list' },
  preview: { needs: 'writer', usage: 'preview [STACK]', does: 'previews the head of the pull request anew' },
  deploy: {
    needs: 'writer',
    usage: 'deploy [STACK]',
    does: 'starts a run that applies: of the merged branch, or of the previewed commit where the stack has promotion',
  },
  confirm: { needs: 'writer', usage: 'confirm [STACK]', does: 'lets the run that waits apply its plan' },
  discard: { needs: 'writer', usage: 'discard [STACK]', does: 'ends the run that waits; nothing is changed' },
  approve: {
    needs: 'writer',
    usage: 'approve [STACK]',
    does: 'approves the run that waits, where approval policies ask for it',
  },
  reject: {
    needs: 'writer',
    usage: 'reject [STACK]',
    does: 'rejects the run that waits, where approval policies ask',
  },
  cancel: { needs: 'writer', usage: 'cancel [STACK]', does: 'ends the newest run before it began' },
  stop: { needs: 'writer', usage: 'stop [STACK]', does: 'stops the newest run before it changes anything' },
  retry: { needs: 'writer', usage: 'retry [STACK]', does: 'runs the newest run that is over once more' },
  task: {
    needs: 'writer',
    usage: 'task [STACK] -- COMMAND',
    does: 'runs a command in the workspace of one stack',
  },
  lock: { needs: 'writer', usage: 'lock [STACK]', does: 'lets only your own runs of the stack start' },
  unlock: { needs: 'writer', usage: 'unlock [STACK]', does: 'takes your lock away, or that of the server' },
  status: { needs: 'reader', usage: 'status [STACK]', does: 'says where each run is and what it waits for' },
  explain: {
    needs: 'reader',
    usage: 'explain [STACK]',
    does: 'says why each stack is concerned or not, and what you may do',
  },
} as const satisfies Record<string, VerbFacts>;

export type Verb = keyof typeof table;

/** In the order of the help. */
export const verbs = Object.keys(table) as readonly Verb[];

export const verbFacts: Readonly<Record<Verb, VerbFacts>> = table;
