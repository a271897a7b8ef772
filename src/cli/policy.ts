import type { Command } from 'commander';
import type { CliContext } from './context.ts';
import { addPolicyCheckCommand } from './policy-check.ts';

/** `slipway policy ...`. */
export function addPolicyCommands(policy: Command, context: CliContext): void {
  addPolicyCheckCommand(policy, context);
}
