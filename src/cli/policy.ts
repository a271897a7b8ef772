import type { Command } from 'commander';
import type { CliContext } from './context.ts';
import { addPolicyAttachCommands } from './policy-attach.ts';
import { addPolicyCheckCommand } from './policy-check.ts';
import { addPolicyManageCommands } from './policy-manage.ts';
import { addPolicyTestCommand } from './policy-test.ts';
import { addPolicyWorkbenchCommands } from './policy-workbench.ts';

/** `slipway policy ...`. */
export function addPolicyCommands(policy: Command, context: CliContext): void {
  addPolicyManageCommands(policy, context);
  addPolicyAttachCommands(policy, context);
  addPolicyWorkbenchCommands(policy, context);
  addPolicyCheckCommand(policy, context);
  addPolicyTestCommand(policy, context);
}
