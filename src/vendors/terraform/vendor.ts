import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Vendor } from '../../worker/vendor.ts';
import { createCommands } from './commands.ts';
import { baseEnvironment } from './environment.ts';
import { explainFailure } from './failure.ts';
import type { Flavour } from './flavour.ts';
import { readApply, readPlan } from './readings.ts';
import { opentofuRules, terraformRules } from './rules.ts';
import { terraformSettings } from './settings.ts';
import { inspectTool } from './tool.ts';

/**
 * Terraform and OpenTofu behind the vendor port: which commands its phases are made of and what they have left means.
 * It runs nothing but `version`, once; the worker runs the rest in the sandbox. It knows neither runs nor stacks.
 */
export async function createTerraformVendor({
  flavour,
  path,
  insideDirectory,
  lockTimeoutSeconds,
}: TerraformOptions): Promise<Vendor> {
  const inspected = await inspectTool(flavour, path);
  const tool = 'tool' in inspected ? inspected.tool : null;
  const isMoved = insideDirectory !== undefined;
  const commands = createCommands(flavour, isMoved ? insideDirectory : ownFiles, lockTimeoutSeconds);
  const rules = flavour.name === 'terraform' ? terraformRules : opentofuRules;

  return {
    ...rules,
    tool,
    toolProblem: 'problem' in inspected ? inspected.problem : null,
    toolMounts: () =>
      tool === null || !isMoved
        ? []
        : [
            { source: tool.path, target: join(insideDirectory, flavour.program) },
            ...fileNames.map((name) => ({
              source: join(ownFiles, name),
              target: join(insideDirectory, name),
            })),
          ],
    toolPath: () => (tool === null ? [] : [isMoved ? insideDirectory : dirname(tool.path)]),
    projectFile: { called: 'configuration (*.tf)', matches: (name) => flavour.projectFile.test(name) },
    // What is secret is known from the plan, and hidden value by value.
    hiddenAfter: [],
    baseEnvironment: (context) => baseEnvironment(flavour, context),
    localState: (settings) => {
      const { localState } = terraformSettings(settings, flavour.name);
      return localState && { ...localState, isInClear: true };
    },
    // The lock of a local state ends with the process that holds it.
    mendLocalState: null,
    initialize: commands.initialize,
    plan: commands.plan,
    apply: commands.apply,
    beforeInitHooks: 'before-commands',
    explain: (result) => explainFailure(flavour, result),
    readPlan: async (outputs) => readPlan(flavour, outputs),
    readApply: async (outputs) => readApply(flavour, outputs),
    destroyBinding: { kind: 'plan-file' },
    // Whatever an apply that was cut off had finished is in the state; nothing in it says what was under way.
    stateCheck: null,
  };
}

export interface TerraformOptions {
  readonly flavour: Flavour;
  /** What findTool gave for the program of the flavour. */
  readonly path: string | null;
  /** Where the program is mounted, e.g. `/opt/terraform`. Without it it keeps its place (SANDBOX=none). */
  readonly insideDirectory?: string;
  /** Another run of the stack may be at its end; a person may be at work. Only tests are less patient. */
  readonly lockTimeoutSeconds?: number;
}

const ownFiles = fileURLToPath(new URL('inside', import.meta.url));
const fileNames = ['local-backend.tf', 'check-backend.sh'];
