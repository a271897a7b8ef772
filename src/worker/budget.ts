import type { Limits } from '../sandbox/sandbox.ts';

/**
 * What a phase may take in all: hooks and commands share its time and its output, each gets what the ones
 * before left. Silence, memory and disk are judged command by command.
 */
export interface PhaseBudget {
  readonly total: Limits;
  left(): Limits;
  spend(command: { readonly durationMs: number; readonly outputBytes: number }): void;
}

export function createBudget(total: Limits): PhaseBudget {
  let { wallMs, outputBytes } = total;
  return {
    total,
    left: () => ({ ...total, wallMs, outputBytes }),
    spend(command) {
      // A clock that is at 0 still starts the command, and ends it at once.
      wallMs = Math.max(0, wallMs - command.durationMs);
      outputBytes = Math.max(0, outputBytes - command.outputBytes);
    },
  };
}
