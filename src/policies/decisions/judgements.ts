import { failureText, type Judgement } from '../judgement.ts';

// What all combinations share: their results do not depend on the order in which policies were evaluated.

/** By name, then by id. */
export function inOrder(judgements: readonly Judgement[]): readonly Judgement[] {
  const key = ({ policy }: Judgement): string => `${policy.name}\0${policy.id}`;
  return judgements.toSorted((a, b) => (key(a) < key(b) ? -1 : Number(key(a) > key(b))));
}

export const anyIs = (judgements: readonly Judgement[], outcome: string): boolean =>
  judgements.some((judgement) => judgement.outcome === outcome);

/** "tags: the bucket has no owner": its messages, or why it has none. */
export function linesOf({ policy, failure, messages }: Judgement): readonly string[] {
  if (failure === null) return messages.map((message) => `${policy.name}: ${message}`);
  return [`${policy.name} could not be evaluated: ${failureText(failure)}`];
}

/** Sorted, each once. */
export const united = (sets: readonly (readonly string[])[]): readonly string[] => [
  ...new Set(sets.flat().toSorted()),
];

/** A judgement that failed, for a message about it. */
export const failedOnes = (judgements: readonly Judgement[]): readonly Judgement[] =>
  inOrder(judgements).filter(({ failure }) => failure !== null);
