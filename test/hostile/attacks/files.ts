/** What lies on the server's disk. */
import { join } from 'node:path';
import { type Attack, bash, python } from '../attack.ts';
import { exists, fileIs, holds, loot, lootOf } from '../evidence.ts';

export const fileAttacks: readonly Attack[] = [
  {
    id: 'files/database',
    title: 'reads the database of the server by its path',
    stoppedBy: 'file tree made of an allow-list',
    program: bash('cat "$STATE/slipway.db" > loot'),
    evidence: loot,
  },
  {
    id: 'files/search',
    title: 'searches the disk for keys',
    stoppedBy: 'file tree made of an allow-list',
    program: bash('find "$ROOT" /tmp -maxdepth 4 -name "*.key" -exec cat {} + > loot 2>/dev/null'),
    evidence: loot,
  },
  {
    id: 'files/climb',
    title: 'climbs out of its workspace by ..',
    stoppedBy: 'mount namespace: above the workspace is the root of the sandbox',
    program: bash('for up in .. ../.. ../../..; do cat "$up/state/slipway.db"; done > loot 2>/dev/null'),
    evidence: loot,
  },
  {
    id: 'files/root-of-others',
    title: 'goes through /proc/<pid>/root and cwd of other processes',
    stoppedBy: 'process namespace with a /proc of its own',
    program: bash(
      'for d in /proc/[0-9]*/root /proc/[0-9]*/cwd; do cat "$d$STATE/slipway.db" && break; done > loot 2>/dev/null',
    ),
    evidence: loot,
  },
  {
    id: 'files/neighbour-read',
    title: 'reads the workspace of another run',
    stoppedBy: 'only its own directories are mounted; its own user where the server is root',
    program: bash('cat "$NEIGHBOUR/main.tf" > loot'),
    evidence: loot,
  },
  {
    id: 'files/neighbour-write',
    title: 'changes the program of another run',
    stoppedBy: 'only its own directories are mounted; its own user where the server is root',
    program: bash('echo "# $MARK" >> "$NEIGHBOUR/main.tf"'),
    evidence: holds(
      ({ neighbour }) => join(neighbour, 'main.tf'),
      ({ mark }) => mark,
    ),
  },
  {
    id: 'files/state-write',
    title: 'writes beside its workspace and into the state of the server',
    stoppedBy: 'file tree made of an allow-list, its root read-only',
    program: bash('for d in "$STATE" "$ROOT" .. ; do touch "$d/$MARK"; done 2>/dev/null'),
    evidence: exists(
      ({ state, mark }) => join(state, mark),
      ({ root, mark }) => join(root, mark, mark),
    ),
  },
  {
    id: 'files/temporary-write',
    title: 'leaves files for others in /tmp, /var/tmp and /dev/shm',
    stoppedBy: 'private tmpfs directories',
    program: bash('for d in /tmp /var/tmp /dev/shm /run; do mkdir "$d/$MARK"; done 2>/dev/null'),
    evidence: exists(...['/tmp', '/var/tmp', '/dev/shm', '/run'].map((place) => inPlace(place))),
  },
  {
    id: 'files/system-write',
    title: 'changes programs and settings of the machine',
    stoppedBy: 'read-only mounts, a user of its own, no capabilities',
    needs: ['root'],
    program: bash('for d in / /etc /usr /usr/local/bin /opt; do touch "$d/$MARK"; done 2>/dev/null'),
    evidence: exists(...['/', '/etc', '/usr', '/usr/local/bin', '/opt'].map((place) => inPlace(place))),
  },
  {
    id: 'files/hard-link',
    title: 'makes the database a file of its workspace by a hard link',
    stoppedBy: 'file tree made of an allow-list',
    program: bash('ln "$STATE/slipway.db" loot'),
    evidence: loot,
  },
  {
    id: 'files/leaked-directory',
    title: 'uses a directory that the server left open (descriptor 30)',
    stoppedBy: 'inherited descriptors are closed at the start; while one is left, nothing is run',
    program: bash('cat "/proc/self/fd/30$STATE/slipway.db" > loot'),
    evidence: loot,
  },
  {
    id: 'files/by-handle',
    title: 'opens a file by its number in the file system, past every mount',
    stoppedBy: 'no capabilities; system-call filter',
    needs: ['root'],
    program: python(`
handle = ctypes.create_string_buffer(bytes.fromhex(env["HANDLE"]))
loot(os.read(call("open_by_handle_at", os.open(".", os.O_RDONLY), handle, os.O_RDONLY), 1000))`),
    evidence: loot,
  },
  {
    id: 'files/disk',
    title: 'reads the raw disk',
    stoppedBy: 'a /dev of its own without devices; no capabilities',
    needs: ['root', 'disk'],
    // The magic number of ext4 and its like is nothing to look for: any byte is one too many.
    program: bash('head -c 4096 "$DISK" | wc -c > loot'),
    evidence: lootOf(() => '4096'),
  },
  {
    id: 'files/device',
    title: 'makes a device file in its workspace, for whoever can open it',
    stoppedBy: 'no capabilities',
    needs: ['root'],
    program: bash('mknod zero c 1 5'),
    evidence: fileIs(
      ({ workspace }) => join(workspace, 'zero'),
      (stat) => stat.isCharacterDevice(),
    ),
  },
  {
    id: 'files/set-user-id',
    title: 'leaves a program that makes whoever starts it root',
    stoppedBy: 'a user of its own where the server is root',
    needs: ['root'],
    program: bash('cp /usr/bin/env tool && chmod 4755 tool'),
    evidence: fileIs(
      ({ workspace }) => join(workspace, 'tool'),
      ({ uid, mode }) => uid === 0 && (mode & 0o4000) !== 0,
    ),
  },
  {
    id: 'files/hardware',
    title: 'learns about the hardware and the interfaces of the machine (/sys)',
    stoppedBy: '/sys does not exist inside',
    program: bash('cat /sys/class/net/lo/address > loot'),
    evidence: lootOf(() => '00:00:00:00:00:00'),
  },
  {
    id: 'files/identity',
    title: 'learns the name of the machine',
    stoppedBy: 'host name namespace',
    needs: ['namespaces'],
    program: bash('cat /proc/sys/kernel/hostname > loot'),
    evidence: lootOf(({ secret }) => `host-${secret.slice(-20)}`),
  },
];

function inPlace(place: string) {
  return ({ mark }: { mark: string }) => join(place, mark);
}
