import { isBlocking, isTerminal, possibleCommands } from '../run.ts';
import type { ToldRun } from './sentence.ts';

export const runVerbs = [
  ...(['approve', 'reject', 'confirm', 'discard', 'cancel', 'stop', 'prioritize', 'retry'] as const),
];
export type RunVerb = (typeof runVerbs)[number];

/** What may be asked of a run as it stands, the most wanted first. */
export function verbsFor(run: Pick<ToldRun, 'type' | 'state' | 'blockedBy'>): readonly RunVerb[] {
  if (isTerminal(run.state)) return ['retry'];
  const isBehind = run.state === 'QUEUED' && isBlocking(run.type) && run.blockedBy?.kind === 'run';
  const isShut = run.blockedBy?.kind === 'approval';
  return [
    ...(isBehind ? (['prioritize'] as const) : []),
    ...(isShut ? (['approve', 'reject'] as const) : []),
    ...possibleCommands(run).filter((command) => command !== 'confirm' || !isShut),
  ];
}

/** Verbs with their object, as on the button. */
export function wordsOf(verb: RunVerb, { type }: Pick<ToldRun, 'type'>): string {
  switch (verb) {
    case 'approve':
      return 'Approve';
    case 'reject':
      return 'Reject';
    case 'confirm':
      return type === 'DESTROY' ? 'Confirm and destroy' : 'Confirm and apply';
    case 'discard':
      return 'Discard plan';
    case 'cancel':
      return 'Cancel run';
    case 'stop':
      return 'Stop run';
    case 'prioritize':
      return 'Put it first';
    case 'retry':
      return 'Run it again';
  }
}
