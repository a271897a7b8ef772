import type { Outcome } from '../conversation.ts';
import type { Run } from '../run.ts';
import { type Reference, refused } from './act.ts';

/** What is told of a run that was to be made. */
export function made(run: Run | 'duplicate', reference: Reference): Outcome {
  if (run === 'duplicate') return refused({ code: 'done-before' });
  return { kind: 'made', run: reference(run), isUntrusted: run.isUntrusted ?? false };
}
