import type { CommandAnswer, StackOutcome } from '../conversation.ts';
import { createOutcomeNotes } from '../outcome-notes.ts';

/** One line about an answer, for the operator who looks at deliveries. */
export function answerNote(answer: CommandAnswer): string {
  return `${answer.verb ?? 'a comment'} by ${answer.by}: ${whatCameOf(answer)}`;
}

function whatCameOf(answer: CommandAnswer): string {
  switch (answer.kind) {
    case 'help':
      return 'answered';
    case 'misunderstood':
      return `not understood: ${answer.reason}`;
    case 'forbidden':
      return `refused: needs the role ${answer.needs}, has ${answer.role ?? 'none'}`;
    case 'refused':
      return `refused: ${answer.refusal.code}`;
    case 'status':
    case 'explained':
      return `answered for ${answer.stacks.length} of the stacks`;
    case 'acted':
      return ofStacks(answer.outcomes);
  }
}

function ofStacks(outcomes: readonly StackOutcome[]): string {
  const notes = createOutcomeNotes();
  for (const outcome of outcomes) notes.add(outcome.stack, wordsOf(outcome));
  return notes.all().join('; ');
}

function wordsOf(outcome: StackOutcome): string {
  switch (outcome.kind) {
    case 'made':
      return `${outcome.run.type} run ${outcome.run.id}${outcome.isUntrusted ? ' without secrets' : ''}`;
    case 'moved':
      return `run ${outcome.run.id} is ${outcome.run.state}`;
    case 'reviewed':
      return `${outcome.verdict} of run ${outcome.run.id}`;
    case 'locked':
    case 'unlocked':
      return outcome.kind;
    case 'refused':
      return `refused: ${outcome.refusal.code}`;
  }
}
