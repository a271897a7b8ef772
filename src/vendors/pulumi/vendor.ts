import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Vendor } from '../../worker/vendor.ts';
import { localStateOf } from '../local-state.ts';
import * as commands from './commands.ts';
import { baseEnvironment } from './environment.ts';
import { compareTearDowns, explainFailure } from './failure.ts';
import { readApply, readPlan } from './readings.ts';
import { pulumiRules } from './rules.ts';
import { pulumiSettings } from './settings.ts';
import { exportState, readPending } from './state-check.ts';
import { inspectTool } from './tool.ts';

/**
 * Pulumi behind the vendor port: which commands its phases are made of and what they have left means. It runs
 * nothing but `pulumi version`, once; the worker runs the rest in the sandbox. It knows neither runs nor stacks.
 */
export async function createPulumiVendor(options: PulumiOptions): Promise<Vendor> {
  const inspected = await inspectTool(options.pulumiPath);
  const tool = 'tool' in inspected ? inspected.tool : null;
  const extraTools = options.extraTools ?? [];
  const { insideDirectory } = options;
  const isMoved = insideDirectory !== undefined && tool !== null && tool.mounts.length > 0;
  // Binaries (path, size, time of change) that answered "unknown flag" to the specified `stack select`.
  const withoutSelectFlag = new Set<string>();

  return {
    ...pulumiRules,
    tool: tool && { path: tool.path, version: tool.version },
    toolProblem: 'problem' in inspected ? inspected.problem : null,
    toolMounts: () => [
      ...(tool?.mounts ?? []).map(({ source, target }) => ({
        source,
        target: isMoved ? join(insideDirectory, basename(target)) : target,
      })),
      ...extraTools.filter(isOutsideUsr).map(toMount),
    ],
    toolPath: () => [
      ...(tool ? [isMoved ? insideDirectory : dirname(tool.path)] : []),
      ...extraTools.map(({ pathEntry }) => pathEntry),
    ],
    projectFile: { called: 'Pulumi.yaml', matches: (name) => /^Pulumi\.(yaml|yml|json)$/.test(name) },
    // Test fixture violation-secret: the formatter of a plan violation ignores what is secret.
    hiddenAfter: ['violates plan: properties changed:'],
    baseEnvironment,
    localState: (settings) => {
      const local = localStateOf(pulumiSettings(settings).loginUrl);
      return local && { ...local, isInClear: false };
    },
    // Beside each file Pulumi writes its attributes, not atomically; killed in between it leaves an empty file, and
    // from then on says "failed to load checkpoint: EOF". Without that file it goes by the defaults, as it should.
    mendLocalState: ['find', '.', '-type', 'f', '-name', '*.attrs', '-empty', '-delete'],
    initialize(context) {
      const binary = tool === null ? '' : identityOf(tool.path);
      const remember = () => withoutSelectFlag.add(binary);
      return commands.initialize(context, withoutSelectFlag.has(binary), remember);
    },
    plan: (context, kind) => [commands.plan(context, kind)],
    apply: commands.apply,
    beforeInitHooks: 'after-commands',
    explain: (result) => explainFailure(result, null),
    readPlan: ([outputs], kind) => readPlan(outputs, kind),
    readApply,
    // `pulumi destroy` takes no plan.
    destroyBinding: { kind: 'second-plan', compare: compareTearDowns },
    stateCheck: { command: exportState, read: readPending },
  };
}

export interface PulumiOptions {
  /** What findTool gave for `pulumi`. */
  readonly pulumiPath: string | null;
  /**
   * Where the program and its plugins are mounted. Not at their place on the host: that may lie below a
   * directory of the run, such as /tmp or its home. Without it they keep their place (SANDBOX=none).
   */
  readonly insideDirectory?: string;
  /** Programs that runs need besides and that the sandbox's /usr may lack or have too old, such as Node. */
  readonly extraTools?: readonly ExtraTool[];
}

export interface ExtraTool {
  /** On the host; not mounted when it lies below /usr. */
  readonly source: string;
  /** Inside; the same as `source` where there are no mounts (SANDBOX=none). */
  readonly target: string;
  /** The directory inside that goes on PATH. */
  readonly pathEntry: string;
}

/** Every sandbox has the host's /usr; a mount inside it would need a place to stand. */
function isOutsideUsr({ target }: ExtraTool): boolean {
  return !target.startsWith('/usr/');
}

function toMount({ source, target }: ExtraTool): { source: string; target: string } {
  return { source, target };
}

function identityOf(path: string): string {
  const { size, mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0, mtimeMs: 0 };
  return `${path} ${size} ${mtimeMs}`;
}
