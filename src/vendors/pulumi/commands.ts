import type { ApplyOptions, InitializeStep, VendorCommand, VendorContext } from '../../worker/vendor.ts';
import { backendUrl } from './environment.ts';
import { pulumiSettings } from './settings.ts';

/**
 * The commands of each phase. Argument vectors are the ones of the specification, letter by letter; whatever
 * else the CLI must be told travels in the environment, where every flag has the form PULUMI_OPTION_<FLAG>.
 */

/** Plain names in the output directory. */
export const eventLogFile = 'events.jsonl';
export const planFile = 'plan.json';

const flags = ['--refresh', '--diff', '--show-replacement-steps'] as const;

export function login(context: VendorContext): VendorCommand {
  return command('pulumi login', ['pulumi', 'login', backendUrl(context)]);
}

/** The form of the specification, which no released CLI knows ("unknown flag: --select"). */
export function selectAsSpecified(context: VendorContext): VendorCommand {
  const { stackName } = pulumiSettings(context.settings);
  return command('pulumi stack select', ['pulumi', 'stack', 'select', '--create', '--select', stackName]);
}

export function selectAsReleased(context: VendorContext): VendorCommand {
  const { stackName } = pulumiSettings(context.settings);
  return command('pulumi stack select', ['pulumi', 'stack', 'select', '--create', '--stack', stackName]);
}

/** `isKnownUnknown`: this binary has already refused the specified form. */
export function initialize(
  context: VendorContext,
  isKnownUnknown: boolean,
  remember: () => void,
): readonly InitializeStep[] {
  const released = selectAsReleased(context);
  if (isKnownUnknown) return [{ command: login(context) }, { command: released }];
  const fallback = { when: refusesSelectFlag, command: released, remember };
  return [{ command: login(context) }, { command: selectAsSpecified(context), fallback }];
}

/** Exit code 1 since 3.226, 255 before. */
export function refusesSelectFlag(result: { exitCode: number; stderr: string }): boolean {
  return result.exitCode !== 0 && result.stderr.includes('unknown flag: --select');
}

export function plan(context: VendorContext, kind: 'apply' | 'destroy'): VendorCommand {
  if (kind === 'destroy') {
    return recorded(context, 'pulumi destroy --preview-only', ['destroy', '--preview-only', ...flags]);
  }
  const savePlan = { PULUMI_OPTION_SAVE_PLAN: `${context.paths.output}/${planFile}` };
  return recorded(context, 'pulumi preview', ['preview', ...flags], savePlan);
}

export function apply(
  context: VendorContext,
  kind: 'apply' | 'destroy',
  options: ApplyOptions,
): VendorCommand {
  const environment: Record<string, string> = { PULUMI_SKIP_CONFIRMATIONS: 'true' };
  // Twice as fast, and safe only when nothing can have changed since the preview: a violated plan is then
  // found after steps were already taken.
  if (options.followsPlan) environment['PULUMI_OPTION_SKIP_PREVIEW'] = 'true';
  if (kind === 'destroy') return recorded(context, 'pulumi destroy', ['destroy', ...flags], environment);
  // `destroy` knows no plan.
  if (options.planPath !== null) environment['PULUMI_OPTION_PLAN'] = options.planPath;
  return recorded(context, 'pulumi up', ['up', ...flags], environment);
}

function command(label: string, argv: VendorCommand['argv']): VendorCommand {
  return { label, argv, environment: {}, writesOutput: false };
}

function recorded(
  context: VendorContext,
  label: string,
  args: readonly string[],
  environment: Record<string, string> = {},
): VendorCommand {
  return {
    label,
    argv: ['pulumi', ...args],
    environment: {
      ...environment,
      // --event-log exists only with this.
      PULUMI_DEBUG_COMMANDS: 'true',
      PULUMI_OPTION_EVENT_LOG: `${context.paths.output}/${eventLogFile}`,
    },
    writesOutput: true,
  };
}
