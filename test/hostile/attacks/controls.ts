/** What a command may do. It has to be seen from outside in the sandbox as well, or nobody would see an attack there. */
import { join } from 'node:path';
import { type Attack, bash, python } from '../attack.ts';
import {
  descriptor,
  largerThan,
  lootOf,
  moreProcessesThan,
  outcomeIs,
  processShows,
  reached,
} from '../evidence.ts';
import { hostAddress } from '../stage.ts';
import { ask } from './proxy.ts';

const stoppedBy = 'nothing';

export const controls: readonly Attack[] = [
  {
    id: 'control/file',
    title: 'a file in the workspace',
    stoppedBy,
    program: bash('echo "it is $MARK" > loot'),
    evidence: lootOf(({ mark }) => `it is ${mark}`),
  },
  {
    id: 'control/descriptor',
    title: 'an open file without a name',
    stoppedBy,
    program: python('os.memfd_create("harmless")\nhold()'),
    evidence: descriptor(/memfd:harmless/),
  },
  {
    id: 'control/processes',
    title: 'twenty processes',
    stoppedBy,
    program: bash('for i in $(seq 20); do sleep 2 & done; wait'),
    evidence: moreProcessesThan(20),
  },
  {
    id: 'control/threads',
    title: 'threads',
    stoppedBy,
    program: python(`
import threading
for _ in range(10):
    threading.Thread(target=time.sleep, args=[2], daemon=True).start()
hold()`),
    evidence: processShows('status', (text) => Number(/^Threads:\s+(\d+)/m.exec(text)?.[1]) > 10),
  },
  {
    id: 'control/memory',
    title: 'memory',
    stoppedBy,
    program: python('taken = b"x" * (64 << 20)\nhold()'),
    evidence: processShows('status', (text) => Number(/^VmRSS:\s+(\d+)/m.exec(text)?.[1]) > 60 * 1024),
  },
  {
    id: 'control/temporary-file',
    title: 'a file in /tmp',
    stoppedBy,
    program: bash('head -c 1000000 /dev/zero > "/tmp/$MARK"; sleep 2'),
    evidence: largerThan(900_000, ({ mark }) => join('/tmp', mark)),
  },
  {
    id: 'control/mounts',
    title: 'the table of mounts',
    stoppedBy,
    program: bash('sleep 2'),
    evidence: processShows('mountinfo', (text) => text.includes(' - proc ')),
  },
  {
    id: 'control/users',
    title: 'the table of users',
    stoppedBy,
    program: bash('sleep 2'),
    evidence: processShows('uid_map', (text) => /^\s*\d+\s+\d+\s+\d+\s*$/.test(text)),
  },
  {
    id: 'control/allowed-host',
    title: 'a connection to a host that the operator allowed',
    stoppedBy,
    needs: ['namespaces'],
    program: ask('env["HOST"]', '80'),
    access: { mode: 'allowlist', allowedHosts: [hostAddress] },
    evidence: reached('host'),
  },
  {
    id: 'control/output',
    title: 'output',
    stoppedBy,
    program: bash('head -c 100000 /dev/zero'),
    evidence: outcomeIs(({ receivedBytes }) => receivedBytes === 100_000),
  },
];
