/**
 * What commands see of this machine besides their mounts: programs and libraries, a few single files of /etc, and files
 * written for them. An allow-list; whatever is not named here does not exist inside.
 */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Mount } from '../sandbox.ts';

export interface HostTree {
  /** Since the /usr merge most of these are links into /usr. */
  readonly links: readonly { readonly path: string; readonly to: string }[];
  /** Real directories, and single files that may be missing. Mounted read-only at the same path. */
  readonly directories: readonly string[];
  readonly optional: readonly string[];
  /** Files of ours that every command gets. */
  readonly mounts: readonly Mount[];
  /** What holds a network open: the forwarder and the program that runs it. */
  readonly holderMounts: readonly Mount[];
  /** False when neither the machine nor the operator has a certificate bundle. */
  readonly hasCertificates: boolean;
}

/** Where every common tool looks, and what the certificate variables point at. */
export const certificatesInside = '/etc/ssl/certs/ca-certificates.crt';
export const forwarderInside = '/opt/slipway/forwarder.cjs';
export const nodeInside = '/opt/slipway/node';
export const proxySocketInside = '/opt/slipway/proxy.sock';

/** Debian, Fedora, SUSE, Alpine. */
const systemBundles = [
  certificatesInside,
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/** Not /etc/ssl as a whole: /etc/ssl/private is readable to a server in the group ssl-cert. */
const optionalFiles = [
  '/etc/alternatives',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/localtime',
  '/etc/mime.types',
  '/etc/protocols',
  '/etc/services',
  '/etc/ssl/certs/java',
  '/etc/ssl/openssl.cnf',
];

/** The host's versions would tell about the host; name service modules other than these need its sockets. */
const ownFiles: Readonly<Record<string, string>> = {
  passwd:
    'root:x:0:0:root:/root:/usr/sbin/nologin\nrunner:x:1000:1000:runner:/home/runner:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n',
  group: 'root:x:0:\nrunner:x:1000:\nnogroup:x:65534:\n',
  hosts: '127.0.0.1 localhost sandbox\n::1 localhost\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};

/** Reads this machine and writes the sandbox's own files below `directory`, which only the server can write. */
export function prepareHostTree(directory: string, caBundle: string | null): HostTree {
  const inside = join(directory, 'inside');
  mkdirSync(inside, { recursive: true });
  const write = (name: string, target: string, content: string | Uint8Array): Mount => {
    replaceFile(join(inside, name), content);
    return { source: join(inside, name), target, writable: false };
  };
  const mounts = Object.entries(ownFiles).map(([name, text]) => write(name, `/etc/${name}`, text));
  const certificates = certificateBundle(caBundle);
  if (certificates !== null) mounts.push(write('ca-certificates.crt', certificatesInside, certificates));
  // A copy, because a checkout made under umask 077 would be unreadable to the run's user.
  const forwarder = readFileSync(fileURLToPath(new URL('../network/forwarder.cjs', import.meta.url)));
  return {
    ...programs(),
    optional: optionalFiles,
    mounts,
    holderMounts: [
      write('forwarder.cjs', forwarderInside, forwarder),
      { source: realpathSync(process.execPath), target: nodeInside, writable: false },
    ],
    hasCertificates: certificates !== null,
  };
}

function programs(): Pick<HostTree, 'links' | 'directories'> {
  const links: { path: string; to: string }[] = [];
  const directories = ['/usr'];
  for (const path of ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']) {
    const state = lstatSync(path, { throwIfNoEntry: false });
    if (state?.isSymbolicLink()) links.push({ path, to: readlinkSync(path) });
    else if (state?.isDirectory()) directories.push(path);
  }
  return { links, directories };
}

/** CA_BUNDLE adds to the machine's authorities, but the variables inside replace the tools' own: so one file with both. */
function certificateBundle(caBundle: string | null): string | null {
  const system = systemBundles.find((path) => existsSync(path));
  const sources = [system, caBundle ?? undefined].filter((path) => path !== undefined);
  const distinct = [...new Set(sources.map((path) => realpathSync(path)))];
  if (distinct.length === 0) return null;
  return `${distinct.map((path) => readFileSync(path, 'utf8').trimEnd()).join('\n')}\n`;
}

/** Never half a file, because another server process may be starting a command with it. */
function replaceFile(path: string, content: string | Uint8Array): void {
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, content, { mode: 0o444 });
  renameSync(temporary, path);
}
