import { relative } from 'node:path/posix';
import type { ApplyOptions, InitializeStep, VendorCommand, VendorContext } from '../../worker/vendor.ts';
import type { LocalState } from '../local-state.ts';
import { pluginCache } from './environment.ts';
import type { Flavour } from './flavour.ts';
import { type TerraformSettings, terraformSettings } from './settings.ts';

/** The commands of each phase, for both programs. */

/** Plain name in the output directory. */
export const planFile = 'plan.tfplan';

/** It comes last in its directory: of several override files the last one wins. */
const overrideFile = 'zz_slipway_override.tf';

/** Exit codes of `plan -detailed-exitcode`. */
export const nothingToDo = 0;
export const somethingToDo = 2;

/**
 * The first words of what a plan would do, in every form the two programs have. From there on values of resources are
 * shown, some of which the tool itself forgets to hide.
 */
const renderingBegins = [
  ' used the selected providers to generate',
  ' will perform the following actions',
  ' planned the following actions, but then',
  'Objects have changed outside of ',
  'Changes to Outputs:',
];

export interface Commands {
  initialize(context: VendorContext): readonly InitializeStep[];
  plan(context: VendorContext, kind: 'apply' | 'destroy'): readonly [VendorCommand, ...VendorCommand[]];
  apply(context: VendorContext, kind: 'apply' | 'destroy', options: ApplyOptions): VendorCommand;
}

/** `filesDirectory`: where a run finds the files of ./inside. `lockTimeoutSeconds`: for as long it waits for a lock. */
export function createCommands(flavour: Flavour, filesDirectory: string, lockTimeoutSeconds = 60): Commands {
  const { program } = flavour;
  const lock = `-lock-timeout=${lockTimeoutSeconds}s`;
  const settingsOf = ({ settings }: VendorContext) => terraformSettings(settings, flavour.name);

  const tool = (...args: readonly [string, ...string[]]): VendorCommand => ({
    ...command(`${program} ${args[0]}`, [program, ...args]),
  });

  return {
    initialize(context) {
      const settings = settingsOf(context);
      const cache = pluginCache(flavour, context);
      const init = tool('init', '-input=false', '-no-color', ...backendArguments(context, settings));
      const steps: VendorCommand[] = [];
      if (cache !== null) steps.push(command('provider cache', ['mkdir', '-p', cache]));
      if (settings.localState !== null) {
        const copy = ['cp', `${filesDirectory}/local-backend.tf`, overrideFile] as const;
        steps.push(command('state kept by Slipway', copy));
      }
      // Two that fill the cache at once would find each other's files half written.
      steps.push(cache === null ? init : { ...init, argv: ['flock', cache, ...init.argv] });
      const kept =
        settings.localState === null ? [] : [`${stateFolder(context, settings.localState)}/${stateFile}`];
      steps.push(command('state of the stack', ['sh', `${filesDirectory}/check-backend.sh`, ...kept]));
      if (settings.workspace !== null) {
        steps.push(tool('workspace', 'select', '-or-create', '-no-color', settings.workspace));
      }
      return steps.map((step) => ({ command: step }));
    },

    plan(context, kind) {
      const settings = settingsOf(context);
      const file = `${context.paths.output}/${planFile}`;
      const environment = workspaceOf(settings);
      const plan = tool(
        ...(['plan', '-input=false', '-no-color', '-detailed-exitcode', lock, `-out=${file}`] as const),
        ...variableArguments(settings),
        ...destroyArguments(kind),
      );
      return [
        {
          ...plan,
          environment,
          writesOutput: true,
          successCodes: [nothingToDo, somethingToDo],
          holdsBackAfter: renderingBegins,
        },
        {
          ...tool('show', '-json', '-no-color', file),
          environment,
          writesOutput: true,
          capturesStdout: true,
        },
      ];
    },

    apply(context, kind, { planPath }) {
      const settings = settingsOf(context);
      const always = ['apply', '-input=false', '-no-color', lock] as const;
      const environment = workspaceOf(settings);
      // A saved plan has its variables, and whether it destroys, in itself.
      if (planPath !== null) return { ...tool(...always, planPath), environment };
      const free = ['-auto-approve', ...variableArguments(settings), ...destroyArguments(kind)];
      return { ...tool(...always, ...free), environment };
    },
  };
}

function command(label: string, argv: VendorCommand['argv']): VendorCommand {
  return { label, argv, environment: {}, writesOutput: false };
}

function backendArguments(
  context: VendorContext,
  { localState, backendConfigFile }: TerraformSettings,
): string[] {
  if (localState === null) return backendConfigFile === null ? [] : [`-backend-config=${backendConfigFile}`];
  const folder = stateFolder(context, localState);
  return [
    `-backend-config=path=${folder}/${stateFile}`,
    `-backend-config=workspace_dir=${folder}/workspaces`,
  ];
}

const stateFile = 'terraform.tfstate';

/** Of a state kept by Slipway, as the commands see it. */
function stateFolder({ localStateDirectory, paths }: VendorContext, { target }: LocalState): string {
  return `${localStateDirectory ?? target}/${folderOf(paths)}`;
}

/** Two programs of a repository must not take each other's resources for their own, and destroy them. */
function folderOf({ checkout, projectRoot }: VendorContext['paths']): string {
  const project = relative(checkout, projectRoot);
  return project === '' ? 'root' : `at-${encodeURIComponent(project)}`;
}

const variableArguments = ({ variableFile }: TerraformSettings) =>
  variableFile === null ? [] : [`-var-file=${variableFile}`];

const destroyArguments = (kind: 'apply' | 'destroy') => (kind === 'destroy' ? ['-destroy'] : []);

/** A hook that selects another workspace does not change what is planned and applied. */
const workspaceOf = ({ workspace }: TerraformSettings): Record<string, string> =>
  workspace === null ? {} : { TF_WORKSPACE: workspace };
