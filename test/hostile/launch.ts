/** Starts an arena: the namespaces around it, the descriptors it inherits, the user it runs as. */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Verdict } from './arena.ts';
import { hostileNames } from './hostile-names.ts';
import { hostAddress, metadataAddress } from './stage.ts';

export interface Arena extends AsyncDisposable {
  readonly attempt: (id: string) => Promise<Verdict>;
}

export const program = fileURLToPath(import.meta.resolve('./arena.ts'));
export const isRoot = process.getuid?.() === 0;

/** Private to the arena: what root could change of this machine without a sandbox stays in them. */
const namespaces = ['--net', '--uts', '--ipc', '--mount'];
const ownUser = ['--user', '--map-current-user', '--keep-caps'];
const unshareOptions = [...(isRoot ? [] : ownUser), ...namespaces];
/** Null when they cannot be made; the attacks that need them are skipped then. */
const launcher =
  spawnSync('unshare', [...unshareOptions, 'ip', 'link', 'set', 'lo', 'up']).status === 0
    ? ['unshare', ...unshareOptions, '--']
    : null;

const setUp = `
ip link set lo up
ip addr add ${metadataAddress}/32 dev lo
ip addr add ${hostAddress}/32 dev lo
mount --bind "$HOSTILE_ROOT/hosts" /etc/hosts
hostname "$HOSTILE_HOSTNAME"
echo 0 > /proc/sys/net/ipv4/ip_unprivileged_port_start
`;

export async function startArena(kind: 'plain' | 'bubblewrap', uid: number | null): Promise<Arena> {
  const root = mkdtempSync(join(tmpdir(), 'slipway-hostile-'));
  chmodSync(root, 0o711);
  if (uid !== null) chownSync(root, uid, uid);
  const hosts = `127.0.0.1 localhost\n${metadataAddress} ${hostileNames.metadata}\n127.0.0.1 ${hostileNames.loopback}\n`;
  writeFileSync(join(root, 'hosts'), hosts, { mode: 0o644 });
  const secret = `secret-${randomBytes(16).toString('hex')}`;
  const drop =
    uid === null
      ? ['setpriv', '--ambient-caps', '-all', '--inh-caps', '-all', '--']
      : ['setpriv', '--reuid', String(uid), '--regid', String(uid), '--clear-groups', '--'];
  const server = [process.execPath, program, kind, root, secret];
  // The forgotten: a directory, which is the whole host, and the network of this machine.
  const named = launcher ? 'export HOSTILE_OUTER_NETWORK=$(readlink /proc/self/ns/net); ' : '';
  const outer = `${named}exec 30</ 31</proc/self/ns/net; exec "$@"`;
  const inner = `set -e; ${launcher ? setUp : ''} exec "$@"`;
  const child = spawn(
    'bash',
    [
      '-c',
      outer,
      'outer',
      ...(launcher ?? []),
      'bash',
      '-c',
      inner,
      'inner',
      ...(isRoot && uid === null ? [] : drop),
      ...server,
    ],
    {
      cwd: '/',
      env: {
        PATH: process.env['PATH'],
        TOKEN: secret,
        HOSTILE_ROOT: root,
        HOSTILE_HOSTNAME: `host-${secret.slice(-20)}`,
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const closed = once(child, 'close');
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`the server under attack (${kind}) has ended`);
    return value;
  };
  await next();
  return {
    async attempt(id) {
      child.stdin.write(`${id}\n`);
      return JSON.parse(await next());
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await closed;
      rmSync(root, { recursive: true, force: true });
    },
  };
}
