/**
 * Tries the sandbox before it is trusted with anything: the real policy, on commands that look for a hole. Part of every
 * start; a failure means that no run is executed, and says what to do.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { launcherEnvironment } from './bubblewrap-process.ts';
import { hasSymlinkFlaw } from './bwrap-errors.ts';
import { measure } from './disk-use.ts';
import { defaultLimits } from './limits.ts';
import { networkEnvironment } from './network-environment.ts';
import type { Limits, OpenNetwork, Sandbox } from './sandbox.ts';

export interface SelfTestOptions {
  /** Where the server keeps what no run may see; a marker is written there and removed again. */
  readonly stateDirectory: string;
  /** Also tries the way out, for SANDBOX_NETWORK other than `none`. */
  readonly withNetwork: boolean;
  /** Where programs of ours are found; only tests have another than the system's. */
  readonly programs?: NodeJS.ProcessEnv;
}

export interface SelfTestResult {
  readonly ok: boolean;
  readonly tier: string;
  readonly version: string | null;
  /** For the operator: what is wrong and what to do. Empty when ok. */
  readonly failures: readonly string[];
  /** What works, and could be better. */
  readonly warnings: readonly string[];
}

export type TestedSandbox = Sandbox & { readonly tier: string; readonly version: string | null };

const identity = { key: 'self-test' };
const limits: Limits = {
  ...defaultLimits,
  wallMs: 20_000,
  graceMs: 1000,
  processes: 200,
  fileBytes: 64 * 1024 * 1024,
};

/** Everything is printed and judged outside; what needs no shell of the host is asked of /proc. */
const probe = [
  'cat "$MARKER" 2>/dev/null',
  'grep -E "^(Seccomp|NoNewPrivs|CapEff|CapBnd):" /proc/self/status',
  'echo "limits: $(ulimit -u) $(ulimit -d) $(ulimit -f)"',
  'echo "processes: $(ls -d /proc/[0-9]* | wc -l)"',
  'echo "descriptors: $(ls /proc/self/fd | tr "\\n" " ")"',
  'echo "variables: $(env | cut -d= -f1 | sort | tr "\\n" " ")"',
  '(exec 3<>"/dev/tcp/127.0.0.1/$PORT") 2>/dev/null',
  'true',
].join('\n');

export async function selfTest(sandbox: TestedSandbox, options: SelfTestOptions): Promise<SelfTestResult> {
  const { tier, version } = sandbox;
  const warnings: string[] = [];
  if (sandbox.kind === 'none') {
    warnings.push('SANDBOX=none: every run can read and change everything the server can.');
    const failures = await probeDiskWatch(options);
    return { ok: failures.length === 0, tier, version, failures, warnings };
  }
  if (version !== null && hasSymlinkFlaw(version)) {
    warnings.push(
      `bubblewrap ${version} has CVE-2026-87766. Slipway never mounts where it can be used; 0.12 or newer is still better.`,
    );
  }
  const watching = probeProcessWatch(sandbox);
  const failures = [
    ...(await probeIsolation(sandbox, options.stateDirectory, null)),
    ...(await probeDiskWatch(options)),
  ];
  if (failures.length === 0 && options.withNetwork) {
    failures.push(...(await probeNetwork(sandbox, options.stateDirectory)));
  }
  warnings.push(...(await watching));
  return { ok: failures.length === 0, tier, version, failures, warnings };
}

async function probeDiskWatch({ stateDirectory, programs }: SelfTestOptions): Promise<string[]> {
  await mkdir(stateDirectory, { recursive: true });
  // Its top is enough, however much lies in it: what counts is that find answers.
  const limits = { bytes: Number.POSITIVE_INFINITY, entries: 0 };
  const signal = new AbortController().signal;
  const use = await measure([stateDirectory], limits, programs ?? launcherEnvironment, signal);
  if (use.kind === 'measured') return [];
  const why = use.kind === 'failed' ? use.reason : `${stateDirectory} cannot be read`;
  return [`The disk of runs cannot be watched: ${why}. It takes GNU find: apt-get install findutils.`];
}

/** The first look is the end of a command that may hold nothing. */
async function probeProcessWatch(sandbox: Sandbox): Promise<string[]> {
  const result = await sandbox.run({
    identity,
    argv: ['sleep', '5'],
    environment: { PATH: '/usr/bin:/bin' },
    workingDirectory: '/tmp',
    mounts: [],
    network: null,
    limits: { ...limits, memoryBytes: 0 },
    onOutput: () => {},
    signal: new AbortController().signal,
  });
  return result.kind === 'exited'
    ? [
        'SANDBOX_MEMORY_MB does not hold: the server cannot see what commands hold in /proc/<pid>/root/proc. As root it takes CAP_SYS_PTRACE.',
      ]
    : [];
}

async function probeIsolation(
  sandbox: Sandbox,
  stateDirectory: string,
  network: OpenNetwork | null,
): Promise<string[]> {
  await mkdir(stateDirectory, { recursive: true });
  const secret = randomUUID();
  const marker = join(stateDirectory, `self-test-${secret}`);
  let visits = 0;
  const server = createServer((socket) => {
    visits += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  try {
    // Readable by everyone, because nothing but its absence may protect it.
    await writeFile(marker, secret, { mode: 0o644 });
    const port = (server.address() as AddressInfo).port;
    const environment = { PATH: '/usr/bin:/bin', MARKER: marker, PORT: String(port) };
    const { failure, output } = await ask(sandbox, ['bash', '-c', probe], environment, network);
    if (failure !== null) return [failure];
    return findings(output, { secret, visits, marker });
  } finally {
    server.close();
    await rm(marker, { force: true });
  }
}

function findings(output: string, host: { secret: string; visits: number; marker: string }): string[] {
  const line = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(output)?.[1]?.trim() ?? 'missing';
  const wantedLimits = `${limits.processes} ${limits.dataBytes / 1024} ${limits.fileBytes / 1024}`;
  const variables = line('variables')
    .split(' ')
    .filter((name) => !variablesOfNetwork.has(name));
  const failures: string[] = [];
  const expect = (isRight: boolean, failure: string) => {
    if (!isRight) failures.push(failure);
  };
  expect(
    !output.includes(host.secret),
    `Commands can read ${host.marker}. Move DATA_DIR out of /usr: that tree is visible inside.`,
  );
  expect(
    host.visits === 0,
    'Commands reach the loopback interface of this machine: network namespaces do not work here.',
  );
  expect(
    line('Seccomp') === '2',
    `The system-call filter is not active (Seccomp: ${line('Seccomp')}): the kernel needs CONFIG_SECCOMP_FILTER.`,
  );
  expect(
    line('NoNewPrivs') === '1',
    'Commands can gain privileges through setuid programs (NoNewPrivs is not set).',
  );
  expect(
    /^0+$/.test(line('CapEff')) && /^0+$/.test(line('CapBnd')),
    `Commands have capabilities (${line('CapEff')}).`,
  );
  expect(
    Number(line('processes')) < 10,
    `Commands see ${line('processes')} processes: /proc is not private.`,
  );
  expect(
    line('descriptors') === '0 1 2 3',
    `Commands inherit descriptors (${line('descriptors')}); call closeInheritedDescriptors when the server starts.`,
  );
  expect(
    variables.join(' ') === 'MARKER PATH PORT PWD SHLVL _',
    `Commands inherit variables (${variables.join(' ')}).`,
  );
  expect(
    line('limits') === wantedLimits,
    `Limits do not hold (processes, data, file size: ${line('limits')} instead of ${wantedLimits}): the server's own hard limits may be lower.`,
  );
  return failures;
}

const variablesOfNetwork: ReadonlySet<string> = new Set(Object.keys(networkEnvironment({}, true)));

/**
 * Commands with a network get into their sandbox by another way, so everything is asked again. An empty allow-list: what
 * counts is that the forwarder runs and the proxy answers.
 */
async function probeNetwork(sandbox: Sandbox, stateDirectory: string): Promise<string[]> {
  const request =
    '(exec 3<>/dev/tcp/127.0.0.1/3128 && printf "CONNECT example.invalid:443 HTTP/1.1\\r\\n\\r\\n" >&3 && head -n1 <&3)';
  await using network = await sandbox.openNetwork({ mode: 'allowlist', allowedHosts: [] }, { identity });
  const failures = await probeIsolation(sandbox, stateDirectory, network);
  if (failures.length > 0) return failures.map((failure) => `With network: ${failure}`);
  const { failure, output } = await ask(sandbox, ['bash', '-c', request], { PATH: '/usr/bin:/bin' }, network);
  if (failure !== null) return [`With network: ${failure}`];
  return output.startsWith('HTTP/1.1 403')
    ? []
    : [`The proxy of a run does not answer inside the sandbox (${output.trim()}).`];
}

async function ask(
  sandbox: Sandbox,
  argv: readonly [string, ...string[]],
  environment: Record<string, string>,
  network: OpenNetwork | null,
): Promise<{ failure: string | null; output: string }> {
  let output = '';
  const result = await sandbox.run({
    identity,
    argv,
    environment,
    workingDirectory: '/tmp',
    mounts: [],
    network,
    limits,
    onOutput: (_stream, chunk) => {
      output += Buffer.from(chunk).toString('utf8');
    },
    signal: new AbortController().signal,
  });
  if (result.kind === 'unavailable') return { failure: result.message, output };
  if (result.kind === 'exited') return { failure: null, output };
  return { failure: `A command that should take milliseconds ended by ${result.kind}.`, output };
}
