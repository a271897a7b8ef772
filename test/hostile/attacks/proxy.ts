/** Commands that have a network: what the proxy must not be talked into. Without a sandbox there is none to ask. */
import type { OpenAccess } from '../../../src/sandbox/sandbox.ts';
import { type Attack, python } from '../attack.ts';
import { reached } from '../evidence.ts';
import { hostileNames } from '../hostile-names.ts';
import type { ListenerName } from '../scene.ts';

/** Through a tunnel, then by a plain request; directly where there is no proxy. */
export const ask = (host: string, port: string) =>
  python(`
host, port = ${host}, int(${port})
path = "/" + env["MARK"]
def talk(place, text):
    with socket.create_connection(place, 3) as connection:
        connection.sendall(text.encode())
        answer = connection.recv(1000).decode("latin1")
        if text.startswith("CONNECT") and " 200 " in answer.split("\\n")[0]:
            connection.sendall(f"GET {path} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n".encode())
            answer = connection.recv(1000).decode("latin1")
        print(answer.split("\\n")[0])
name = f"[{host}]" if ":" in host else host
if "HTTPS_PROXY" in env:
    proxy = ("127.0.0.1", 3128)
    talk(proxy, f"CONNECT {name}:{port} HTTP/1.1\\r\\nHost: {name}:{port}\\r\\n\\r\\n")
    talk(proxy, f"GET http://{name}:{port}{path} HTTP/1.1\\r\\nHost: {name}:{port}\\r\\n\\r\\n")
    talk(proxy, f"GET http://{name}:{port}{path} HTTP/1.1\\r\\nHost: registry.example\\r\\n\\r\\n")
else:
    talk((host, port), f"GET {path} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")`);

const everywhere: OpenAccess = { mode: 'public', allowedHosts: [] };
const loopback = 'env["PORT"]';

interface Detour {
  readonly what: string;
  readonly title: string;
  readonly host: string;
  readonly port?: string;
  readonly listener: ListenerName;
  readonly access?: OpenAccess;
  readonly needs?: Attack['needs'];
}

const detours: readonly Detour[] = [
  {
    what: 'metadata',
    title: 'the metadata service by its address',
    host: 'env["METADATA"]',
    listener: 'metadata',
  },
  {
    what: 'metadata-by-name',
    title: 'the metadata service by a name that leads there',
    host: `"${hostileNames.metadata}"`,
    listener: 'metadata',
  },
  {
    what: 'metadata-listed-name',
    title: 'the metadata service by a name that the operator allowed',
    host: `"${hostileNames.metadata}"`,
    access: { mode: 'allowlist', allowedHosts: ['*.attacker.example'] },
    listener: 'metadata',
  },
  {
    what: 'metadata-mapped',
    title: 'the metadata service as an IPv6 address',
    host: '"::ffff:169.254.169.254"',
    listener: 'metadata',
    needs: ['ipv6'],
  },
  { what: 'own-address', title: 'an address of the server itself', host: 'env["HOST"]', listener: 'host' },
  {
    what: 'loopback',
    title: 'loopback by its address',
    host: '"127.0.0.1"',
    port: loopback,
    listener: 'loopback',
  },
  {
    what: 'localhost',
    title: 'loopback as localhost',
    host: '"localhost"',
    port: loopback,
    listener: 'loopback',
  },
  {
    what: 'loopback-by-name',
    title: 'loopback by a name that leads there',
    host: `"${hostileNames.loopback}"`,
    port: loopback,
    listener: 'loopback',
  },
  {
    what: 'loopback-zero',
    title: 'loopback as 0.0.0.0',
    host: '"0.0.0.0"',
    port: loopback,
    listener: 'loopback',
  },
  {
    what: 'loopback-number',
    title: 'loopback as one decimal number',
    host: '"2130706433"',
    port: loopback,
    listener: 'loopback',
  },
  {
    what: 'loopback-short',
    title: 'loopback as 127.1',
    host: '"127.1"',
    port: loopback,
    listener: 'loopback',
  },
  {
    what: 'loopback-ipv6',
    title: 'loopback as ::1',
    host: '"::1"',
    port: loopback,
    listener: 'loopback6',
    needs: ['ipv6'],
  },
  {
    what: 'not-listed',
    title: 'a host that is not on the list',
    host: 'env["HOST"]',
    access: { mode: 'allowlist', allowedHosts: ['registry.example'] },
    listener: 'host',
  },
];

export const proxyAttacks: readonly Attack[] = detours.map(
  ({ what, title, host, port = '80', listener, access = everywhere, needs = [] }) => ({
    id: `proxy/${what}`,
    title: `reaches ${title}`,
    stoppedBy: 'proxy that resolves, judges every address and dials the one it judged',
    needs: ['namespaces', ...needs],
    program: ask(host, port),
    access,
    evidence: reached(listener),
  }),
);
