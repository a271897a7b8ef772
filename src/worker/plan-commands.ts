import { newOutputDirectory, type Ran, runVendorCommand } from './command-runner.ts';
import { createHoldBack, type HeldBack } from './hold-back.ts';
import { type PhaseContext, type RunContext, vendorContext } from './run-context.ts';
import type { CommandOutputs, VendorCommand } from './vendor.ts';
import type { PlanResult } from './vendor-results.ts';

type Outputs = readonly [CommandOutputs, ...CommandOutputs[]];

/** Of the text of a plan that waits for the plan to be read. */
const maxHeldBytes = 32 * 1024 * 1024;

/**
 * Plans with the tool's own commands; `read` says what they mean. From then on it is known what the tool calls secret,
 * and what was held back goes into the log. Where no plan was read it never does: a plan that fails shows values, too,
 * and its errors come on the other stream.
 */
export async function runPlanCommands(
  context: RunContext,
  phase: PhaseContext,
  kind: 'apply' | 'destroy',
  read: (outputs: Outputs) => Promise<PlanResult>,
): Promise<Ran<PlanResult>> {
  const outputDirectory = await newOutputDirectory(context);
  const commandsFor = (output: string) => context.vendor.plan(vendorContext(context, output), kind);
  const outputs: CommandOutputs[] = [];
  const held: HeldBack[] = [];

  async function dropAll(): Promise<void> {
    for (const each of held) each.drop(notRead);
    await phase.log.flush();
  }

  for (const [index, command] of commandsFor('/output').entries()) {
    const { successCodes = [0], holdsBackAfter: markers, label } = command;
    const stdout =
      markers && createHoldBack(context, phase, { markers, called: label, maxBytes: maxHeldBytes });
    if (stdout) held.push(stdout);
    const ran = await runVendorCommand(
      context,
      phase,
      (output) => commandsFor(output)[index] as VendorCommand,
      (each) => Promise.resolve(each),
      { outputDirectory, ...(stdout && { stdout }) },
    );
    if (ran.kind !== 'ran') {
      await dropAll();
      return ran;
    }
    outputs.push(ran.value);
    if (!successCodes.includes(ran.value.exitCode)) break;
  }

  const result = await read(outputs as unknown as Outputs);
  if (result.kind !== 'planned') await dropAll();
  else {
    context.secrets.learn(result.secrets ?? []);
    for (const each of held) await each.release();
    await phase.log.flush();
  }
  return { kind: 'ran', value: result };
}

const notRead = 'the plan could not be read, so nobody knows what of it is secret';
