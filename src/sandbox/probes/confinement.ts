/** One command that looks for a way out of its sandbox, with a network and without. */
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { networkEnvironment } from '../network/network-environment.ts';
import type { OpenNetwork, Sandbox } from '../sandbox.ts';
import { ask, probeLimits, troubleOf } from './ask.ts';
import { failed, passed, type SelfTestItem } from './item.ts';

/** Everything is printed and judged outside; what needs no shell of the host is asked of /proc. */
const script = [
  'cat "$MARKER" 2>/dev/null',
  'grep -E "^(Seccomp|NoNewPrivs|CapEff|CapBnd):" /proc/self/status',
  'echo "limits: $(ulimit -u) $(ulimit -d) $(ulimit -f)"',
  'echo "processes: $(ls -d /proc/[0-9]* | wc -l)"',
  'echo "descriptors: $(ls /proc/self/fd | tr "\\n" " ")"',
  'echo "variables: $(env | cut -d= -f1 | sort | tr "\\n" " ")"',
  '(exec 3<>"/dev/tcp/127.0.0.1/$PORT") 2>/dev/null',
  'for place in / /usr /etc /opt /dev; do (: > "$place/$NAME") 2>/dev/null && rm -f "$place/$NAME" && echo "written: $place"; done',
  'true',
].join('\n');

/** What the command printed, and what was seen of it outside. */
interface Findings {
  readonly line: (name: string) => string;
  readonly sawMarker: boolean;
  readonly visits: number;
  readonly marker: string;
  readonly written: readonly string[];
  readonly variables: readonly string[];
}

interface Confinement {
  readonly name: string;
  readonly good: string;
  holds(found: Findings): boolean;
  bad(found: Findings): string;
  readonly fix: string | null;
}

const wantedLimits = `${probeLimits.processes} ${probeLimits.dataBytes / 1024} ${probeLimits.fileBytes / 1024}`;

const confinements: readonly Confinement[] = [
  {
    name: 'files',
    good: "what lies in the server's data directory is not to be seen",
    holds: ({ sawMarker }) => !sawMarker,
    bad: ({ marker }) => `Commands can read ${marker}.`,
    fix: 'Move DATA_DIR out of /usr: that tree is visible inside.',
  },
  {
    name: 'writing',
    good: 'nothing can be written outside of what is its own',
    holds: ({ written }) => written.length === 0,
    bad: ({ written }) => `Commands can write below ${written.join(', ')}.`,
    fix: null,
  },
  {
    name: 'loopback',
    good: 'the loopback interface of this machine is out of reach',
    holds: ({ visits }) => visits === 0,
    bad: () => 'Commands reach the loopback interface of this machine.',
    fix: 'Network namespaces do not work here: the kernel needs CONFIG_NET_NS.',
  },
  {
    name: 'system calls',
    good: 'the system-call filter is active',
    holds: ({ line }) => line('Seccomp') === '2',
    bad: ({ line }) => `The system-call filter is not active (Seccomp: ${line('Seccomp')}).`,
    fix: 'The kernel needs CONFIG_SECCOMP_FILTER.',
  },
  {
    name: 'privileges',
    good: 'setuid programs give none',
    holds: ({ line }) => line('NoNewPrivs') === '1',
    bad: () => 'Commands can gain privileges through setuid programs (NoNewPrivs is not set).',
    fix: null,
  },
  {
    name: 'capabilities',
    good: 'none',
    holds: ({ line }) => /^0+$/.test(line('CapEff')) && /^0+$/.test(line('CapBnd')),
    bad: ({ line }) => `Commands have capabilities (${line('CapEff')}).`,
    fix: null,
  },
  {
    name: 'processes',
    good: 'those of this machine are not to be seen',
    holds: ({ line }) => Number(line('processes')) < 10,
    bad: ({ line }) => `Commands see ${line('processes')} processes: /proc is not private.`,
    fix: null,
  },
  {
    name: 'descriptors',
    good: "none of the server's are open inside",
    holds: ({ line }) => line('descriptors') === '0 1 2 3',
    bad: ({ line }) => `Commands inherit descriptors (${line('descriptors')}).`,
    fix: 'Call closeInheritedDescriptors when the server starts.',
  },
  {
    name: 'variables',
    good: 'nothing is inherited',
    holds: ({ variables }) => variables.join(' ') === 'MARKER NAME PATH PORT PWD SHLVL _',
    bad: ({ variables }) => `Commands inherit variables (${variables.join(' ')}).`,
    fix: null,
  },
  {
    name: 'limits',
    good: 'processes, data and file size are as asked for',
    holds: ({ line }) => line('limits') === wantedLimits,
    bad: ({ line }) =>
      `Limits do not hold (processes, data, file size: ${line('limits')} instead of ${wantedLimits}).`,
    fix: "The server's own hard limits may be lower: look at LimitNPROC, LimitDATA and LimitFSIZE of its unit, or at ulimit -H.",
  },
];

/** Resolves with why nothing could be asked, or one item for each way out. */
export async function probeConfinement(
  sandbox: Sandbox,
  stateDirectory: string,
  network: OpenNetwork | null,
): Promise<{ readonly trouble: string } | { readonly trouble: null; readonly items: SelfTestItem[] }> {
  const secret = randomUUID();
  const name = `self-test-${secret}`;
  const marker = join(stateDirectory, name);
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
    const port = String((server.address() as AddressInfo).port);
    const environment = { MARKER: marker, NAME: name, PORT: port };
    const answer = await ask(sandbox, { argv: ['bash', '-c', script], environment, network });
    const trouble = troubleOf(answer);
    if (trouble !== null) return { trouble };
    const found = read(answer.output, { secret, visits, marker });
    return { trouble, items: confinements.map((confinement) => judged(confinement, found)) };
  } finally {
    server.close();
    await rm(marker, { force: true });
  }
}

function judged({ name, good, holds, bad, fix }: Confinement, found: Findings): SelfTestItem {
  return holds(found) ? passed(name, good) : failed(name, bad(found), fix);
}

function read(output: string, host: { secret: string; visits: number; marker: string }): Findings {
  const line = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(output)?.[1]?.trim() ?? 'missing';
  return {
    line,
    sawMarker: output.includes(host.secret),
    visits: host.visits,
    marker: host.marker,
    written: [...output.matchAll(/^written: (.*)$/gm)].map(([, place]) => place ?? ''),
    variables: line('variables')
      .split(' ')
      .filter((variable) => !variablesOfNetwork.has(variable)),
  };
}

const variablesOfNetwork: ReadonlySet<string> = new Set(Object.keys(networkEnvironment({}, true)));
