import type { Command } from 'commander';
import { connect } from './api-client.ts';
import type { CliContext } from './context.ts';
import { outputOf } from './output.ts';
import { policyArgument, policyIdOf } from './policy-objects.ts';
import { stackArgument, stackPathOf } from './stack-name.ts';

/** `slipway policy attach` and `slipway policy detach` */
export function addPolicyAttachCommands(policy: Command, context: CliContext): void {
  for (const [verb, method, done] of [
    ['attach', 'PUT', 'judges'],
    ['detach', 'DELETE', 'no longer judges'],
  ] as const) {
    policy
      .command(verb)
      .description(`have a policy ${verb === 'attach' ? 'judge' : 'no longer judge'} a stack of its account`)
      .argument(...policyArgument)
      .argument(...stackArgument)
      .action(async (name: string, stack: string, _options: unknown, command: Command) => {
        await using client = await connect(context);
        const [id, path] = [await policyIdOf(client, name), await stackPathOf(client, stack)];
        await client.call(method, `${path}/policies/${encodeURIComponent(id)}`);
        const attached = verb === 'attach';
        outputOf(context, command).result({ attached }, () => `Policy ${name} ${done} ${stack}.`);
      });
  }
}
