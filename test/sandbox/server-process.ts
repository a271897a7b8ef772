/** A server of its own for tests: started with leaked descriptors, killed, or run as another user. Prints JSON lines. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createBubblewrap } from '../../src/sandbox/bubblewrap.ts';
import { removeLeftoverCgroups } from '../../src/sandbox/cgroup/cgroup.ts';
import { delegateCgroup } from '../../src/sandbox/cgroup/delegation.ts';
import { closeInheritedDescriptors } from '../../src/sandbox/descriptors.ts';
import { endLeftovers, removeLeftoverSockets } from '../../src/sandbox/leftovers.ts';
import { defaultLimits } from '../../src/sandbox/limits.ts';
import type { Mount, SandboxCommand } from '../../src/sandbox/sandbox.ts';
import { selfTest } from '../../src/sandbox/self-test.ts';

const [task = '', directory = '', argument = ''] = process.argv.slice(2);
const delegation = task.startsWith('cgroup') ? delegateCgroup() : undefined;
const options = { directory: join(directory, 'sandbox'), ...(delegation && { delegation }) };
const sandbox = createBubblewrap(options);

async function run(text: string, change: Partial<SandboxCommand> = {}, inside = sandbox) {
  let output = '';
  const result = await inside.run({
    identity: { key: 'run-1' },
    argv: ['bash', '-c', text],
    environment: { PATH: '/usr/bin:/bin' },
    workingDirectory: '/tmp',
    mounts: [],
    network: null,
    limits: { ...defaultLimits, wallMs: 20_000 },
    onOutput: (_stream, chunk) => {
      output += Buffer.from(chunk).toString();
    },
    signal: new AbortController().signal,
    ...change,
  });
  return { ...result, output };
}

const print = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);

switch (task) {
  case 'leak': {
    const look = 'ls /proc/self/fd | tr "\\n" " "; ls /proc/self/fd/*/../../../.. 2>/dev/null | head -n 3';
    const before = await run(look);
    const closed = closeInheritedDescriptors();
    print({ before, closed, after: await run(look) });
    break;
  }
  case 'cgroup-sleep':
    closeInheritedDescriptors();
    await run(`setsid sleep ${argument} & trap "" INT TERM HUP; sleep ${argument}; true`);
    break;
  case 'network': {
    closeInheritedDescriptors();
    const access = { mode: 'allowlist', allowedHosts: [] } as const;
    await using network = await sandbox.openNetwork(access, { identity: { key: 'run-1' } });
    await run(`setsid sleep ${argument} & sleep ${argument}; true`, { network });
    break;
  }
  case 'next-life':
    print({ ended: endLeftovers(join(directory, 'sandbox')) });
    await removeLeftoverSockets(join(directory, 'sandbox'));
    break;
  case 'unprivileged': {
    closeInheritedDescriptors();
    const workspace = join(directory, 'workspace');
    const mount: Mount = { source: workspace, target: '/workspace', writable: true };
    await sandbox.own(workspace, { key: 'run-1' });
    await using network = await sandbox.openNetwork(
      { mode: 'allowlist', allowedHosts: [] },
      { identity: { key: 'run-1' } },
    );
    const limits = { ...defaultLimits, processes: 40, wallMs: 5000, graceMs: 500 };
    const small = { ...limits, wallMs: 20_000, memoryBytes: 30 * 1024 * 1024, temporaryEntries: 20_000 };
    print({
      tier: sandbox.tier,
      selfTest: await selfTest(sandbox, { stateDirectory: directory, withNetwork: true }),
      exit: await run('exit 3'),
      missing: await run('', { argv: ['no-such-program'] }),
      limits: await run('ulimit -u; for i in $(seq 60); do sleep 2 & done 2>/dev/null', { limits }),
      written: await run('mkdir -p closed/in && touch closed/in/file && chmod 000 closed', {
        mounts: [mount],
        workingDirectory: '/workspace',
      }),
      network: await run('ulimit -u; exit 4', { network, limits }),
      closed: await run('mkdir -p hidden && chmod 000 hidden; sleep 20', {
        mounts: [mount],
        workingDirectory: '/workspace',
        watched: [workspace],
      }),
      hog: await run('(head -c 200M /dev/zero; sleep 20) | tail -n 1', { limits: small }),
      hogs: await run('for i in 1 2 3; do setsid -f head -c 12M /dev/zero > /tmp/$i; done; sleep 20', {
        limits: small,
      }),
      litter: await run('cd /tmp; seq 200000 | xargs touch; sleep 20', { limits: small }),
      bomb: await run(
        `exec perl -e 'for (1..99) { my $p = fork; last if !defined $p; if (!$p) { sleep 20; exit } } sleep 3; exit 3'`,
        { limits },
      ),
      brieflyClosed: await run('chmod 700 hidden closed; mkdir b; chmod 000 b; sleep 1.2; rmdir b; sleep 2', {
        mounts: [mount],
        workingDirectory: '/workspace',
        watched: [workspace],
      }),
    });
    writeFileSync(join(workspace, 'beside'), '');
    await sandbox.remove(workspace, { key: 'run-1' });
    break;
  }
  case 'cgroup': {
    closeInheritedDescriptors();
    if (delegation?.kind !== 'delegated') throw new Error(JSON.stringify(delegation));
    const cgroups = () => readdirSync(delegation.directory).filter((name) => name.startsWith('sandbox-'));
    const limits = { ...defaultLimits, memoryBytes: 96 * 1024 * 1024, wallMs: 60_000 };
    const holding = '(head -c 60M /dev/zero | tail -c 60M | wc -c)';
    const spinning = 'timeout 1 bash -c "while :; do :; done"';
    const half = createBubblewrap({ ...options, cpus: 0.5 });
    const selfTested = await selfTest(sandbox, { stateDirectory: directory, withNetwork: true });
    // Before there is a network, which counts as the same user where the server is root.
    const refused = await run('exec sh -c "for i in $(seq 60 | xargs); do sleep 60 & done"', {
      limits: { ...limits, processes: 40 },
    });
    await using network = await sandbox.openNetwork(
      { mode: 'allowlist', allowedHosts: [] },
      { identity: { key: 'run-1' } },
    );
    print({
      ...{ delegation, tier: sandbox.tier, description: sandbox.describe(), selfTest: selfTested },
      alone: await run(holding, { limits }),
      together: await run(`${holding} & ${holding} & wait; echo survived`, { limits }),
      inTemporary: await run('head -c 150M /dev/zero >/tmp/full; echo survived', { limits }),
      refused,
      held: await run(`${spinning} & ${spinning} & wait`, { limits }, half),
      left: await run('setsid sleep 300 & exit 0', { limits }),
      joined: await run('cat /proc/self/cgroup; exit 4', { limits, network }),
      cgroupsOfNetwork: cgroups(),
    });
    break;
  }
  case 'cgroup-leftovers':
    if (delegation?.kind !== 'delegated') throw new Error(JSON.stringify(delegation));
    print({ removed: await removeLeftoverCgroups(delegation), left: readdirSync(delegation.directory) });
    break;
  default:
    throw new Error(`unknown task ${task}`);
}
