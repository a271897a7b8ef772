import { type Command, Option } from 'commander';
import { connect } from './api-client.ts';
import { listAll } from './api-objects.ts';
import type { CliContext } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { CliFailure, usageFailure } from './failure.ts';
import { readNamed } from './named-file.ts';
import { forTerminal, outputOf } from './output.ts';
import {
  decisionObject,
  pathOfPolicy,
  policyArgument,
  policyIdOf,
  readBody,
  saidObject,
  sampleObject,
  simulatedRunObject,
} from './policy-objects.ts';
import { describedSimulation, listedDecisions, listedSamples, listedSimulations } from './policy-text.ts';

interface SimulateOptions {
  readonly input?: string;
  readonly sample?: string;
  readonly run?: string;
  readonly last?: string;
  readonly file?: string;
  readonly rego?: string;
}

/** `slipway policy decisions|samples|simulate` */
export function addPolicyWorkbenchCommands(policy: Command, context: CliContext): void {
  policy
    .command('decisions')
    .description('what a policy said, newest first')
    .argument(...policyArgument)
    .option('--limit <number>', 'at most so many', '20')
    .action(async (name: string, options: { limit: string }, command: Command) => {
      const limit = Number(options.limit);
      if (!Number.isInteger(limit) || limit < 1) throw usageFailure('--limit: must be a number above 0');
      await using client = await connect(context);
      const path = `${pathOfPolicy(await policyIdOf(client, name))}/decisions`;
      const items = await listAll(client.call, path, limit);
      outputOf(context, command).result({ items }, () =>
        listedDecisions(decisionObject.array().parse(items)),
      );
    });

  policy
    .command('samples')
    .description('inputs that a policy asked to keep; one with its input: --id ID --json')
    .argument(...policyArgument)
    .option('--id <sample>', 'this one, with its input')
    .action(async (name: string, { id }: { id?: string }, command: Command) => {
      await using client = await connect(context);
      const output = outputOf(context, command);
      if (id !== undefined) {
        const found = await client.call('GET', `/api/v1/samples/${encodeURIComponent(id)}`);
        output.result(found, () => forTerminal(JSON.stringify((found as { input: unknown }).input, null, 2)));
        return;
      }
      const items = await listAll(client.call, `${pathOfPolicy(await policyIdOf(client, name))}/samples`);
      output.result({ items }, () => listedSamples(sampleObject.array().parse(items)));
    });

  policy
    .command('simulate')
    .description('what a policy says of an input, or would have said of runs; nothing is recorded')
    .argument(...policyArgument)
    .option('--input <path>', 'a file of JSON')
    .option('--sample <id>', 'an input that was kept')
    .option('--run <id>', 'the plan of a run')
    .option('--last <number>', 'the newest plans of the stacks that it judges, so many')
    .option('--file <path>', 'with this source in place of the one that is saved')
    .addOption(new Option('--rego <version>', 'of that source').choices(['0', '1']))
    .action(async (name: string, options: SimulateOptions, command: Command) => {
      const { last, file, rego } = options;
      requireOne(options);
      const edit = {
        ...(file === undefined ? {} : { body: await readBody(file) }),
        ...(rego === undefined ? {} : { regoVersion: Number(rego) }),
      };
      const input = last === undefined ? await inputOf(options) : { last: Number(last) };
      await using client = await connect(context);
      const path = pathOfPolicy(await policyIdOf(client, name));
      const where = last === undefined ? 'simulate' : 'simulate-runs';
      const said = await client.call('POST', `${path}/${where}`, { ...input, ...edit });
      outputOf(context, command).result(said, () =>
        last === undefined
          ? describedSimulation(saidObject.parse(said))
          : listedSimulations(simulatedRunObject.array().parse((said as { items: unknown }).items)),
      );
    });
}

function requireOne({ input, sample, run, last }: SimulateOptions): void {
  const given = [input, sample, run, last].filter((value) => value !== undefined);
  if (given.length !== 1) throw usageFailure('give one of --input, --sample, --run and --last');
}

async function inputOf({ input, sample, run }: SimulateOptions): Promise<object> {
  if (sample !== undefined) return { sample };
  if (run !== undefined) return { run };
  const path = input ?? '';
  try {
    return { input: JSON.parse(Buffer.from(await readNamed(path)).toString('utf8')) };
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    throw new CliFailure(exitCodes.failed, `${path}: it is not JSON`);
  }
}
