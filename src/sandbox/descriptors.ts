/**
 * bwrap passes every descriptor it inherits on to the command: one forgotten directory descriptor hands the
 * host's whole file tree to it. Node marks its own close-on-exec, but not what the server was started with.
 */
import { closeSync, readdirSync, readFileSync } from 'node:fs';

/** O_CLOEXEC in the octal `flags` of /proc/self/fdinfo (Linux on x86-64 and arm64). */
const closeOnExec = 0o2000000;

/** Closes what the process inherited beyond stdin, stdout and stderr; call once, first thing at start. */
export function closeInheritedDescriptors(): number[] {
  const inherited = inheritedDescriptors();
  for (const descriptor of inherited) closeSync(descriptor);
  return inherited;
}

/** The descriptors that a child would get without being given them. */
export function inheritedDescriptors(): number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((descriptor) => descriptor > 2 && isInherited(descriptor));
}

function isInherited(descriptor: number): boolean {
  let info: string;
  try {
    info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
  } catch {
    return false; // The one that listed the folder is closed by now.
  }
  const flags = /^flags:\s*([0-7]+)$/m.exec(info)?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
}
