import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Outcome } from '../runs/run.ts';
import type { HookName } from '../stacks/stack.ts';
import { execute } from './command-runner.ts';
import { exportsFile, hookHint, hookPrologue, maxExportsBytes, readExports } from './hooks.ts';
import { interruption } from './interruption.ts';
import {
  failed,
  ok,
  type PhaseContext,
  type RunContext,
  type StepResult,
  vendorFailure,
} from './run-context.ts';
import type { CommandOutputs } from './vendor.ts';

const insidePrologue = '/run/slipway/hook-prologue.sh';

/** Runs the hooks of one list in order; the first failure ends it. What they export is carried on. */
export async function runHooks(
  context: RunContext,
  phase: PhaseContext,
  list: HookName,
): Promise<StepResult> {
  for (const hook of context.assignment.frozen.settings.hooks[list]) {
    const step = await runScript(context, phase, hook, { what: `${list} hook`, outcome: 'hook_failed' });
    if (step.kind !== 'ok') return step;
  }
  return ok;
}

/** The command of a TASK run; it exports as hooks do. */
export async function runTask(context: RunContext, phase: PhaseContext): Promise<StepResult> {
  const { command = '' } = context.assignment.run;
  const script = { what: 'command', outcome: 'tool_failed', mayMeetTrouble: true } as const;
  return runScript(context, phase, command, script);
}

interface Script {
  readonly what: string;
  readonly outcome: Outcome;
  /** It runs the tool, more often than not. */
  readonly mayMeetTrouble?: true;
}

async function runScript(
  context: RunContext,
  phase: PhaseContext,
  script: string,
  { what, outcome, mayMeetTrouble }: Script,
): Promise<StepResult> {
  const prologue = join(context.workspace.root, 'hook-prologue.sh');
  await writeFile(prologue, hookPrologue, { mode: 0o644 });
  const execution = await execute(context, phase, {
    label: script,
    shown: script,
    argv: ['bash', '-c', script],
    environment: (output) => ({
      BASH_ENV: context.sandbox.kind === 'none' ? prologue : insidePrologue,
      SLIPWAY_EXPORTS: join(output, exportsFile),
    }),
    extraMounts: [{ source: prologue, target: insidePrologue, writable: false }],
    withOutput: true,
  });
  const called = `The ${what} "${shortened(context, script)}"`;
  const interrupted = interruption(execution.result, called, phase);
  if (interrupted) return interrupted;
  await carryExports(context, phase, execution.outputs);
  const { exitCode } = execution.outputs;
  if (exitCode === 0) return ok;
  const known = mayMeetTrouble ? context.vendor.explain(execution.outputs) : null;
  if (known?.trouble) return vendorFailure(known);
  return failed(outcome, `${called} failed with exit code ${exitCode}.`, hookHint(exitCode));
}

/** Enough to tell one hook from another. */
const maxShown = 100;

/** On one line. Secrets go first: a cut may leave half of one, which nobody would recognise. */
function shortened({ secrets }: RunContext, script: string): string {
  const text = secrets.hide(script).replaceAll(/\s+/g, ' ').trim();
  const characters = [...text];
  return characters.length > maxShown ? `${characters.slice(0, maxShown).join('')}…` : text;
}

async function carryExports(
  context: RunContext,
  phase: PhaseContext,
  outputs: CommandOutputs,
): Promise<void> {
  const left = await wholeOf(outputs, exportsFile);
  if (left) {
    const exports = readExports(left, (name) => context.vendor.refusesVariable(name));
    for (const name of exports.unset) delete context.exports[name];
    Object.assign(context.exports, exports.carried);
    for (const { name, reason } of exports.refused)
      phase.log.line(`[the export of ${name} is refused: ${reason}]`);
  } else if (outputs.exitCode === 0) {
    phase.log.line('[no exports: the hook replaced the trap on EXIT, ended in exec, or exported over 1 MiB]');
  }
  await phase.log.flush();
}

async function wholeOf(outputs: CommandOutputs, name: string): Promise<Uint8Array | null> {
  const stream = await outputs.read(name, maxExportsBytes);
  return stream && Buffer.concat(await Array.fromAsync(stream));
}
