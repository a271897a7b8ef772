/**
 * Tries the sandbox before it is trusted with anything: the real policy, on commands that look for a hole. Part of every
 * start, of `slipway doctor`, and alone in `slipway sandbox self-test`; a failure means that no run is executed, and says what to do.
 */
import { mkdir } from 'node:fs/promises';
import { adviceFor, hasSymlinkFlaw } from './diagnosis/bwrap-errors.ts';
import { type Machine, readMachine, systemOf } from './diagnosis/machine.ts';
import { fixFor } from './diagnosis/refusals.ts';
import { launcherEnvironment } from './launching/bubblewrap-process.ts';
import { probeIdentity } from './probes/ask.ts';
import { probeConfinement } from './probes/confinement.ts';
import { probeFromOutside } from './probes/from-outside.ts';
import { failed, passed, type SelfTestItem } from './probes/item.ts';
import { probeMemoryLimit, probeProcessLimit, probeTemporaryFiles, seesMemory } from './probes/limits.ts';
import { probeNetwork } from './probes/proxy.ts';
import type { Sandbox } from './sandbox.ts';
import { measure } from './watching/disk-use.ts';

export interface SelfTestOptions {
  /** Where the server keeps what no run may see; a marker is written there and removed again. */
  readonly stateDirectory: string;
  /** Also tries the way out, for SANDBOX_NETWORK other than `none`. */
  readonly withNetwork: boolean;
  /** Where programs of ours are found; only tests have another than the system's. */
  readonly programs?: NodeJS.ProcessEnv;
  /** Asked when no command starts; only tests have another. */
  readonly machine?: () => Machine;
}

export interface SelfTestResult {
  /** Every item is. */
  readonly ok: boolean;
  readonly tier: string;
  readonly version: string | null;
  readonly items: readonly SelfTestItem[];
  /** What works, and could be better. */
  readonly warnings: readonly string[];
}

export type TestedSandbox = Sandbox & {
  readonly tier: string;
  readonly version: string | null;
  readonly shortcomings: readonly string[];
  /** Whether the kernel is to limit all processes of a command together. */
  readonly hasCgroups: boolean;
};

export async function selfTest(sandbox: TestedSandbox, options: SelfTestOptions): Promise<SelfTestResult> {
  const { tier, version } = sandbox;
  await mkdir(options.stateDirectory, { recursive: true });
  const items = [
    ...(sandbox.kind === 'none' ? [] : await probeSandbox(sandbox, options)),
    await probeDiskWatch(options),
  ];
  const ok = items.every((item) => item.ok);
  const warnings = [...warningsOf(sandbox), ...(ok ? await warnOfMemory(sandbox) : [])];
  return { ok, tier, version, items, warnings };
}

async function warnOfMemory(sandbox: TestedSandbox): Promise<string[]> {
  // Where the kernel limits memory, that it does was tried.
  if (sandbox.kind === 'none' || sandbox.hasCgroups || (await seesMemory(sandbox))) return [];
  return [
    'SANDBOX_MEMORY_MB does not hold: the server cannot see what commands hold in /proc/<pid>/root/proc. As root it takes CAP_SYS_PTRACE.',
  ];
}

function warningsOf({ kind, version, shortcomings }: TestedSandbox): readonly string[] {
  if (kind === 'none') return ['SANDBOX=none: every run can read and change everything the server can.'];
  if (version === null || !hasSymlinkFlaw(version)) return shortcomings;
  return [
    ...shortcomings,
    `bubblewrap ${version} has CVE-2026-87766. Slipway never mounts where it can be used; 0.12 or newer is still better.`,
  ];
}

/** Where no command starts, there is nothing else to ask. One after the other: they are of one run, with one limit. */
async function probeSandbox(sandbox: TestedSandbox, options: SelfTestOptions): Promise<SelfTestItem[]> {
  const confined = await probeConfinement(sandbox, options.stateDirectory, null);
  if (confined.trouble !== null) return [notStarting(confined.trouble, options)];
  return [
    passed('start', sandbox.describe()),
    ...confined.items,
    await probeProcessLimit(sandbox),
    await probeTemporaryFiles(sandbox),
    ...(sandbox.hasCgroups ? [await probeMemoryLimit(sandbox)] : []),
    ...(await probeFromOutside(sandbox)),
    ...(options.withNetwork ? await probeWithNetwork(sandbox, options) : []),
  ];
}

function notStarting(trouble: string, { machine, programs = launcherEnvironment }: SelfTestOptions) {
  const known = machine?.() ?? readMachine(systemOf(programs['PATH'] ?? ''));
  const advice = adviceFor(trouble, process.getuid?.() === 0);
  // What is right for this machine says more than what is right for any.
  const said = advice === null ? trouble : trouble.replace(`\n${advice}`, '');
  return failed('start', `No command starts: ${said}`, fixFor(said, known));
}

async function probeWithNetwork(sandbox: Sandbox, { stateDirectory }: SelfTestOptions) {
  const access = { mode: 'allowlist', allowedHosts: [] } as const;
  await using network = await sandbox.openNetwork(access, { identity: probeIdentity });
  return await probeNetwork(sandbox, stateDirectory, network);
}

async function probeDiskWatch({ stateDirectory, programs }: SelfTestOptions): Promise<SelfTestItem> {
  const name = 'disk watch';
  // Its top is enough, however much lies in it: what counts is that find answers.
  const limits = { bytes: Number.POSITIVE_INFINITY, entries: 0 };
  const signal = new AbortController().signal;
  const use = await measure([stateDirectory], limits, programs ?? launcherEnvironment, signal);
  if (use.kind === 'measured') return passed(name, 'what runs write is measured');
  const why = use.kind === 'failed' ? use.reason : `${stateDirectory} cannot be read`;
  return failed(
    name,
    `The disk of runs cannot be watched: ${why}.`,
    'It takes GNU find: apt-get install findutils.',
  );
}
