import { createReadStream } from 'node:fs';
import { constants, mkdtemp, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mount, SandboxResult } from '../sandbox/sandbox.ts';
import { describeResult, interruption } from './interruption.ts';
import { createCaptureSink, createLogSink, type OutputSink } from './output-sinks.ts';
import { commandEnvironment, type PhaseContext, type RunContext, type StepFailure } from './run-context.ts';
import type { CommandOutputs, VendorCommand } from './vendor.ts';
import { diskLimits, watchedDirectories, workspaceMounts } from './workspace.ts';

/** The output directory of a command as it sees it; with SANDBOX=none the host's path is used instead. */
const insideOutput = '/output';
export const insidePlan = '/run/slipway/plan';
/** Of standard output that is data. A plan of 10,000 resources is some 20 MB. */
const maxCapturedBytes = 256 * 1024 * 1024;

interface Execution {
  readonly result: SandboxResult;
  readonly outputs: CommandOutputs;
}

interface CommandPlan {
  readonly label: string;
  /** As a person would type it. */
  readonly shown: string;
  readonly argv: readonly [string, ...string[]];
  readonly environment: (output: string) => Record<string, string>;
  readonly extraMounts?: readonly Mount[];
  readonly withOutput: boolean;
  /** On this host, made by `newOutputDirectory`. Left out: one of its own. */
  readonly outputDirectory?: string;
  /** Its standard output is data: it is no output of the phase, and nobody expects it to say something now and then. */
  readonly capturesStdout?: boolean;
  /** Left out: the log. */
  readonly stdout?: OutputSink;
}

/** They stay until the run waits or ends. */
export async function newOutputDirectory({ sandbox, workspace }: RunContext): Promise<string> {
  const directory = await mkdtemp(join(workspace.root, 'out', 'command-'));
  await sandbox.own(directory, workspace.identity);
  return directory;
}

/**
 * Runs one command of a phase in the sandbox: its environment and mounts, its section of the log, its
 * record. What its exit means is the caller's to say.
 */
export async function execute(
  context: RunContext,
  phase: PhaseContext,
  plan: CommandPlan,
): Promise<Execution> {
  const { sandbox, assignment, workspace, clock } = context;
  const hostOutput = plan.outputDirectory ?? (await newOutputDirectory(context));
  const output = sandbox.kind === 'none' ? hostOutput : insideOutput;

  const left = phase.budget.left();
  const capture = plan.capturesStdout ? createCaptureSink(maxCapturedBytes) : null;
  const streams = {
    stdout: capture ?? plan.stdout ?? createLogSink(context, phase),
    stderr: createLogSink(context, phase),
  };
  let writtenBytes = 0;
  const mounts: Mount[] = [...workspaceMounts(workspace, sandbox)];
  if (sandbox.kind !== 'none') {
    mounts.push(...context.vendor.toolMounts().map((mount) => ({ ...mount, writable: false })));
    // What only gives data of the files there must not leave others in their place.
    const writable = capture === null;
    if (plan.withOutput) mounts.push({ source: hostOutput, target: insideOutput, writable });
    mounts.push(...(plan.extraMounts ?? []));
  }

  const network = await context.network.open(context.signal);
  context.network.tellTo(phase.log);
  phase.log.line(`$ ${plan.shown}`);
  const startedAtMs = clock.nowMs();
  const result = await sandbox.run({
    identity: workspace.identity,
    argv: plan.argv,
    environment: { ...commandEnvironment(context, phase), ...plan.environment(output) },
    workingDirectory: context.projectRoot,
    mounts,
    network,
    limits: diskLimits(
      capture ? { ...left, silenceMs: null, outputBytes: Number.POSITIVE_INFINITY } : left,
      workspace,
    ),
    watched: watchedDirectories(workspace),
    onOutput(stream, chunk) {
      if (capture && stream === 'stdout') return capture.write(chunk);
      // Beside data nobody else keeps the limit.
      streams[stream].write(chunk.subarray(0, Math.max(0, left.outputBytes - writtenBytes)));
      writtenBytes += chunk.length;
      return phase.log.pressure() ?? undefined;
    },
    signal: context.signal,
  });
  phase.budget.spend({ durationMs: result.durationMs, outputBytes: writtenBytes });
  const isCutShort = result.kind !== 'exited';
  streams.stdout.end(isCutShort);
  streams.stderr.end(isCutShort);
  if (writtenBytes > left.outputBytes) phase.log.line('[what followed is not kept: it was too much]');
  await context.network.summarize();
  const exitCode = 'exitCode' in result ? result.exitCode : null;
  phase.log.line(`[${describeResult(result, phase)} in ${(result.durationMs / 1000).toFixed(2)} s]`);
  await phase.log.flush();
  await context.server.command(assignment, {
    phase: phase.phase,
    label: plan.label,
    argv: plan.argv,
    startedAtMs,
    durationMs: Math.round(result.durationMs),
    exitCode,
  });
  return {
    result,
    outputs: {
      exitCode: exitCode ?? -1,
      read: (name, maxBytes) => readOutput(join(hostOutput, name), maxBytes),
      stdoutTail: streams.stdout.tail(),
      stderrTail: streams.stderr.tail(),
      captured: capture?.bytes() ?? null,
    },
  };
}

/** Only regular files, never through a link a run may have left, never more than the cap. */
export async function readOutput(path: string, maxBytes: number): Promise<AsyncIterable<Uint8Array> | null> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  const entry = await file.stat();
  if (!entry.isFile() || entry.size > maxBytes) {
    await file.close();
    return null;
  }
  return createReadStream('', { fd: file, end: Math.max(0, entry.size - 1), autoClose: true });
}

export type Ran<T> = { readonly kind: 'ran'; readonly value: T } | StepFailure | { readonly kind: 'over' };

/** Runs a command of the tool; `read` says what its result means. */
export async function runVendorCommand<T>(
  context: RunContext,
  phase: PhaseContext,
  command: (output: string) => VendorCommand,
  read: (outputs: CommandOutputs) => Promise<T>,
  given: Pick<CommandPlan, 'extraMounts' | 'outputDirectory' | 'stdout'> = {},
): Promise<Ran<T>> {
  const outputDirectory = given.outputDirectory ?? (await newOutputDirectory(context));
  const shape = command(context.sandbox.kind === 'none' ? outputDirectory : insideOutput);
  const execution = await execute(context, phase, {
    label: shape.label,
    shown: shape.argv.join(' '),
    argv: shape.argv,
    environment: () => ({ ...shape.environment }),
    withOutput: shape.writesOutput,
    capturesStdout: shape.capturesStdout ?? false,
    ...given,
    outputDirectory,
  });
  const interrupted = interruption(execution.result, `\`${shape.argv.join(' ')}\``, phase);
  if (interrupted) return interrupted;
  return { kind: 'ran', value: await read(execution.outputs) };
}
