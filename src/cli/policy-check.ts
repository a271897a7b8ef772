import { type Command, Option } from 'commander';
import type { CheckedSource } from '../policies/check-source.ts';
import { type PolicyKind, policyKinds } from '../policies/policy.ts';
import { type CliContext, configOf } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { CliFailure } from './failure.ts';
import { oneLine, outputOf } from './output.ts';
import { readBody } from './policy-objects.ts';

interface Options {
  readonly kind: PolicyKind;
  readonly v0?: boolean;
}

/** `slipway policy check`: whether a file could be saved as a policy, without a server. */
export function addPolicyCheckCommand(policy: Command, context: CliContext): void {
  policy
    .command('check')
    .description('check a file of Rego before it is saved as a policy; needs opa, and no server')
    .argument('<file>', 'the policy')
    .addOption(new Option('--kind <kind>', 'what it judges').choices(policyKinds).makeOptionMandatory())
    .option('--v0', 'it is written in Rego v0')
    .action(async (path: string, { kind, v0 }: Options, command: Command) => {
      const body = await readBody(path);
      const checked = await context.checkPolicy(configOf(context), kind, { body, regoVersion: v0 ? 0 : 1 });
      if (checked.kind === 'unavailable') throw new CliFailure(exitCodes.failed, checked.reason);
      const ok = checked.kind === 'valid';
      outputOf(context, command).result({ ok, path, ...jsonOf(checked) }, () => described(path, checked));
      // The errors say it all; nothing is printed on top of them.
      if (!ok) throw new CliFailure(exitCodes.failed, '');
    });
}

function jsonOf(checked: Exclude<CheckedSource, { kind: 'unavailable' }>) {
  return checked.kind === 'valid'
    ? { rules: checked.rules, hints: checked.hints, errors: [] }
    : { rules: [], hints: [], errors: checked.errors };
}

/** As compilers print it, so that editors find the place. */
function described(path: string, checked: Exclude<CheckedSource, { kind: 'unavailable' }>): string {
  if (checked.kind === 'valid')
    return [`${path}: ${checked.rules.join(', ')}`, ...checked.hints].map(oneLine).join('\n');
  return checked.errors
    .map(({ line, column, message }) => {
      const place = [path, line, column].filter((part) => part !== undefined).join(':');
      return `${place}: ${oneLine(message)}`;
    })
    .join('\n');
}
