import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execute, interruption } from './command-runner.ts';
import { exportsFile, hookPrologue, maxExportsBytes, readExports } from './hooks.ts';
import { failed, ok, type PhaseContext, type RunContext, type StepResult } from './run-context.ts';
import type { CommandOutputs } from './vendor.ts';

const insidePrologue = '/run/slipway/hook-prologue.sh';

/** Runs the hooks of one list in order; the first failure ends it. What they export is carried on. */
export async function runHooks(
  context: RunContext,
  phase: PhaseContext,
  hooks: readonly string[],
): Promise<StepResult> {
  for (const hook of hooks) {
    const step = await runHook(context, phase, hook);
    if (step.kind !== 'ok') return step;
  }
  return ok;
}

async function runHook(context: RunContext, phase: PhaseContext, hook: string): Promise<StepResult> {
  const prologue = join(context.workspace.root, 'hook-prologue.sh');
  await writeFile(prologue, hookPrologue, { mode: 0o644 });
  const execution = await execute(context, phase, {
    label: hook,
    shown: hook,
    argv: ['bash', '-c', hook],
    environment: (output) => ({
      BASH_ENV: context.sandbox.kind === 'none' ? prologue : insidePrologue,
      SLIPWAY_EXPORTS: join(output, exportsFile),
    }),
    extraMounts: [{ source: prologue, target: insidePrologue, writable: false }],
    withOutput: true,
  });
  const interrupted = interruption(execution.result);
  if (interrupted) return interrupted;
  await carryExports(context, phase, execution.outputs);
  return execution.outputs.exitCode === 0
    ? ok
    : failed('hook_failed', `The hook "${hook}" failed with exit code ${execution.outputs.exitCode}.`);
}

async function carryExports(
  context: RunContext,
  phase: PhaseContext,
  outputs: CommandOutputs,
): Promise<void> {
  const left = await wholeOf(outputs, exportsFile);
  if (left) {
    const exports = readExports(left, (name) => context.vendor.refusesVariable(name));
    Object.assign(context.exports, exports.carried);
    for (const name of exports.refused)
      phase.log.line(`[the export of ${name} is refused: the name is reserved]`);
  } else if (outputs.exitCode === 0) {
    phase.log.line('[no exports: the hook replaced the trap on EXIT, ended in exec, or exported over 1 MiB]');
  }
  await phase.log.flush();
}

async function wholeOf(outputs: CommandOutputs, name: string): Promise<Uint8Array | null> {
  const stream = await outputs.read(name, maxExportsBytes);
  return stream && Buffer.concat(await Array.fromAsync(stream));
}
