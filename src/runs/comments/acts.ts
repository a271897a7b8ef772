import type { Stacks } from '../../stacks/stacks.ts';
import type { Reviewing } from '../approvals/reviewing.ts';
import type { RunCommands } from '../commands.ts';
import type { RunStore } from '../run-store.ts';
import type { Source } from '../source.ts';
import type { Prepare, Reference } from './act.ts';
import { askOnce } from './ask-once.ts';
import { createDeploy } from './deploy.ts';
import { createLock, createUnlock } from './lock.ts';
import { createEnd, createRetry } from './newest-run.ts';
import { createPreview } from './preview.ts';
import { createReview } from './review-run.ts';
import type { Verb } from './verbs.ts';
import { createAnswerToWaiting } from './waiting-run.ts';

/** The verbs that act on one stack after the other. */
type ActingVerb = Exclude<Verb, 'help' | 'status' | 'explain'>;

interface ActParts {
  readonly runs: RunStore;
  readonly stacks: Pick<Stacks, 'lock' | 'unlock'>;
  readonly commands: RunCommands;
  readonly reviewing: Reviewing;
  readonly source: Pick<Source, 'compare' | 'resolve'>;
  readonly reference: Reference;
}

/** What each of them does. A comment's questions to GitHub are asked once for all of its stacks. */
export function createActs(parts: ActParts): (verb: ActingVerb) => Prepare {
  return (verb) => {
    switch (verb) {
      case 'preview':
        return createPreview(parts);
      case 'deploy':
      case 'task':
        return createDeploy({ ...parts, source: askOnce(parts.source) });
      case 'confirm':
      case 'discard':
        return createAnswerToWaiting(verb, parts);
      case 'approve':
      case 'reject':
        return createReview(verb, parts);
      case 'cancel':
      case 'stop':
        return createEnd(verb, parts);
      case 'retry':
        return createRetry({ ...parts, source: askOnce(parts.source) });
      case 'lock':
        return createLock(parts);
      case 'unlock':
        return createUnlock(parts);
    }
  };
}
