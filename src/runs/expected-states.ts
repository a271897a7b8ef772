import { decide, isTerminal, type Run, type RunCommand, type RunState } from './run.ts';

/** What decides where a run goes on that meets no trouble. */
export interface Prospect {
  readonly autodeploy: boolean;
  readonly isLocked: boolean;
}

/**
 * The states that a run will go through when all goes well and its plan has changes, the nearest first; by the
 * table itself. Empty for a run that is over.
 */
export function expectedStates(
  { type, state }: Pick<Run, 'type' | 'state'>,
  { autodeploy, isLocked }: Prospect,
): readonly RunState[] {
  const planned: RunCommand = {
    kind: 'planned',
    hasChanges: true,
    hasWarnings: false,
    hasApprovalPolicies: false,
    autodeploy,
    stackLocked: isLocked,
  };
  // From each state at most one of them moves.
  const smooth: readonly RunCommand[] = [
    { kind: 'make-ready' },
    { kind: 'claim' },
    { kind: 'prepared' },
    { kind: 'initialized' },
    planned,
    { kind: 'approve' },
    { kind: 'confirm' },
    { kind: 'finish' },
  ];
  const expected: RunState[] = [];
  for (let at = state; !isTerminal(at); ) {
    const next = smooth.map((command) => decide({ type, state: at, restarts: 0 }, command));
    const move = next.find((decision) => decision.kind === 'move');
    if (move?.kind !== 'move') break;
    at = move.to;
    expected.push(at);
  }
  return expected;
}
