import { runVendorCommand } from './command-runner.ts';
import {
  ok,
  type PhaseContext,
  type RunContext,
  type StepResult,
  vendorContext,
  vendorFailure,
} from './run-context.ts';

/** Before the plan of a run that comes after an apply that was cut off. */
export async function checkState(context: RunContext, phase: PhaseContext): Promise<StepResult> {
  const { stateCheck } = context.vendor;
  if (!context.assignment.isAfterCutOff || !stateCheck) return ok;
  phase.log.line('[an apply of this stack was cut off: is anything half done in the state?]');
  const tell = (line: string) => phase.log.line(`[${line}]`);
  const ran = await runVendorCommand(
    context,
    phase,
    (output) => stateCheck.command(vendorContext(context, output)),
    (outputs) => stateCheck.read(outputs, tell),
  );
  if (ran.kind !== 'ran') return ran;
  return ran.value ? vendorFailure(ran.value) : ok;
}
