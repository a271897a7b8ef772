import type { ToolTrouble } from '../../stacks/vendor-settings.ts';

/** What the task does that mends it, and what has to be seen to before. Pure. */
export function mendConsequence(trouble: ToolTrouble): string {
  switch (trouble.kind) {
    case 'state-locked':
      return `A task releases the lock of the state${trouble.holder === null ? '' : ` that ${trouble.holder} holds`}. Be sure that nobody is at work any more: whoever is would write the state together with the next run, and both could be lost.`;
    case 'pending-operations':
      return 'A task takes the creations that were cut off out of the state and refreshes it; a lock that the killed tool left is released. See first whether the resources exist: the next run creates them anew, so delete what there is, or import it after the task.';
  }
}
