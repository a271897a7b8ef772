import type { Command } from 'commander';
import type { CliContext } from './context.ts';
import { addPolicyCheckCommand } from './policy-check.ts';
import { addPolicyTestCommand } from './policy-test.ts';

/** `slipway policy ...`. */
export function addPolicyCommands(policy: Command, context: CliContext): void {
  addPolicyCheckCommand(policy, context);
  addPolicyTestCommand(policy, context);
}
