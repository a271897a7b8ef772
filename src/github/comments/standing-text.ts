import type { ShownApproval, StackStanding, TurnBlocker, WaitsFor } from '../../runs/conversation.ts';
import { codeSpan } from '../feedback/shown-text.ts';
import { deltaSigns } from '../feedback/wording.ts';
import { byHolder, named, runLink } from './refusal-text.ts';

const longestNote = 300;

/** Where a stack is, as a line of a list. */
export function standingText(standing: StackStanding): string {
  const { stack, run, delta, waitsFor, lock, note } = standing;
  const sentences = [
    run ? runText(run, delta && deltaSigns(delta)) : 'no run of this pull request.',
    waitsFor && `${waitsText(waitsFor)}.`,
    lock && `The stack is locked${byHolder(lock)}.`,
    note && codeSpan(note, longestNote),
  ];
  return `- ${named(stack)}: ${sentences.filter(Boolean).join(' ')}`;
}

function runText(run: NonNullable<StackStanding['run']>, signs: string | null): string {
  const commit = codeSpan(run.commit.slice(0, 7), longestNote);
  const isOld = run.isOfHead ? '' : ', which is not the head';
  return `${runLink(run)} of ${commit}${isOld}${signs === null ? '' : ` (${signs})`}.`;
}

function blockerText(blocker: TurnBlocker): string {
  switch (blocker.kind) {
    case 'lock':
      return 'Waits until the stack is unlocked';
    case 'approval':
      return approvalText(blocker);
    case 'repository':
      return `Waits: ${codeSpan(blocker.reason, longestNote)}`;
    case 'run':
      return `Waits for the ${runLink(blocker.run)}`;
  }
}

const approvalText = ({ reason }: ShownApproval): string =>
  `Waits for approval${reason === null ? '' : `: ${codeSpan(reason, longestNote)}`}`;

function waitsText(waitsFor: WaitsFor): string {
  switch (waitsFor.kind) {
    case 'confirmation':
      return 'Waits for somebody to confirm or discard it';
    case 'approval':
      return approvalText(waitsFor);
    case 'worker':
      return 'Waits for a free worker';
    case 'turn': {
      const { blocker, queue } = waitsFor;
      const place = queue ? `, ${queue.place} of ${queue.of} in the queue of the stack` : '';
      if (!blocker) return `Waits for its turn, which is next${place}`;
      return `${blockerText(blocker)}${place}`;
    }
  }
}
