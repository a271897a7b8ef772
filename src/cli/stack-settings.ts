import type { Command } from 'commander';
import { usageFailure } from './failure.ts';
import { type VendorBody, type VendorFlags, vendorOf, withVendorFlags } from './vendor-flags.ts';

/** The settings of a stack as flags, for `stack create` and `stack update`. */
export interface StackFlags extends VendorFlags {
  readonly name?: string;
  readonly description?: string;
  readonly label?: readonly string[];
  readonly branch?: string;
  readonly projectRoot?: string;
  readonly glob?: readonly string[];
  readonly autodeploy?: boolean;
  readonly planBinding?: boolean;
  readonly promotion?: boolean;
  readonly publicDetails?: boolean;
  readonly allowForks?: boolean;
  readonly trustedBot?: readonly string[];
  readonly checks?: string;
  readonly unaffectedChecks?: boolean;
  readonly deploymentEnvironment?: string;
  readonly hook?: readonly string[];
}

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

export function withStackFlags(command: Command): Command {
  const withSettings = command
    .option('--description <text>')
    .option('--label <label>', 'repeatable; the labels given replace all, --label "" leaves none', collect)
    .option('--branch <name>', 'the tracked branch; default: that of the repository')
    .option('--project-root <path>', 'the folder of the program')
    .option('--glob <pattern>', 'further paths that trigger the stack; repeatable as --label', collect)
    .option('--autodeploy', 'apply without confirmation')
    .option('--no-autodeploy')
    .option('--plan-binding', 'apply exactly what was confirmed, else fail (the default)')
    .option('--no-plan-binding')
    .option('--promotion', 'allow tracked runs of other branches')
    .option('--no-promotion')
    .option('--public-details', 'show details of changes in checks of a public repository')
    .option('--no-public-details')
    .option('--allow-forks', 'preview pull requests of forks, without secrets')
    .option('--no-allow-forks')
    .option(
      '--trusted-bot <login>',
      'a bot whose changes are previewed with secrets; repeatable as --label',
      collect,
    )
    .option('--checks <each|aggregate>', 'a check for each run, or one for a commit; default: each')
    .option('--unaffected-checks', 'a neutral check for commits that do not concern the stack')
    .option('--no-unaffected-checks')
    .option(
      '--deployment-environment <name>',
      'GitHub environment of its deployments, "" for none; default: the id of the stack',
    );
  return withVendorFlags(withSettings).option(
    '--hook <name=command>',
    'e.g. beforeInit="npm ci"; repeatable, in order; replaces the commands of the hooks named; name= leaves none',
    collect,
  );
}

/** The body of the request: what was not said is not in it. `vendorNow`: of the stack that is changed. */
export function stackBody(flags: StackFlags, vendorNow?: VendorBody): Record<string, unknown> {
  const { name, description, branch, projectRoot } = flags;
  const { autodeploy, planBinding, promotion, publicDetails, allowForks } = flags;
  const { checks, unaffectedChecks, deploymentEnvironment } = flags;
  const body: Record<string, unknown> = {
    ...{ name, description, branch, projectRoot },
    ...{ autodeploy, planBinding, promotion, publicDetails, allowForks },
    ...{ checks, unaffectedChecks, deploymentEnvironment },
    trustedBots: flags.trustedBot?.filter((login) => login !== ''),
    labels: flags.label?.filter((label) => label !== ''),
    additionalProjectGlobs: flags.glob?.filter((glob) => glob !== ''),
    vendor: vendorOf(flags, vendorNow),
    hooks: flags.hook && hooksOf(flags.hook),
  };
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
}

function hooksOf(flags: readonly string[]): Record<string, string[]> {
  const hooks: Record<string, string[]> = {};
  for (const flag of flags) {
    const [, name, command] = /^([A-Za-z]+)=(.*)$/s.exec(flag) ?? [];
    if (name === undefined || command === undefined) {
      throw usageFailure(`--hook ${flag}: must be name=command`, 'For example --hook beforeInit="npm ci"');
    }
    const commands = hooks[name] ?? [];
    hooks[name] = command === '' ? commands : [...commands, command];
  }
  return hooks;
}
