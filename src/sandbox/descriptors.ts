/**
 * bwrap passes every descriptor it inherits on to the command: one forgotten directory descriptor hands the
 * host's whole file tree to it. Node marks its own close-on-exec, but not what the server was started with.
 */
import { closeSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { getCACertificates } from 'node:tls';

/** O_CLOEXEC in the octal `flags` of /proc/self/fdinfo (Linux on x86-64 and arm64). */
const closeOnExec = 0o2000000;

export interface InheritedDescriptor {
  readonly number: number;
  /** What it is open on, as /proc names it. */
  readonly target: string;
}

/**
 * Closes what the process inherited beyond stdin, stdout and stderr; call once, first thing at start. Takes 50 ms when
 * there is something, otherwise nothing.
 *
 * The trap: C libraries open files without the mark for the moment they read them, and Node's OpenSSL reads
 * NODE_EXTRA_CA_CERTS on a thread of its own just then. Closing that one lost the certificates in a quarter of all
 * starts. So that reading is waited for, and only what stays open is closed.
 */
export function closeInheritedDescriptors(): number[] {
  getCACertificates('extra');
  const before = inheritedDescriptors();
  if (before.length === 0) return [];
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  const inherited = stillInherited(before);
  for (const { number } of inherited) closeSync(number);
  return inherited.map(({ number }) => number);
}

/** The descriptors that a child would get now without being given them; some may be there for a moment only. */
export function inheritedDescriptors(): InheritedDescriptor[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((number) => number > 2)
    .map((number) => ({ number, target: targetIfInherited(number) }))
    .filter((descriptor): descriptor is InheritedDescriptor => descriptor.target !== null);
}

export function stillInherited(before: readonly InheritedDescriptor[]): InheritedDescriptor[] {
  return before.filter(({ number, target }) => targetIfInherited(number) === target);
}

function targetIfInherited(number: number): string | null {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${number}`, 'utf8'))?.[1];
    if (flags === undefined || (Number.parseInt(flags, 8) & closeOnExec) !== 0) return null;
    return readlinkSync(`/proc/self/fd/${number}`);
  } catch {
    return null; // Closed meanwhile; the one that listed the folder always is.
  }
}
