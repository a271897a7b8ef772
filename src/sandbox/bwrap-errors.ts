/** What to do about bwrap's own failures, by its text (0.8.0 and 0.12.0; the source has no translations). */

interface KnownFailure {
  readonly pattern: RegExp;
  readonly advice: string;
}

const knownFailures: readonly KnownFailure[] = [
  {
    pattern: /ENOENT|failed to execute/,
    advice: 'Install bubblewrap and util-linux (Debian, Ubuntu: apt-get install bubblewrap util-linux).',
  },
  {
    pattern: /No permissions to creat\w* (a )?new namespace|Creating new namespace failed|setting up uid map/,
    advice:
      'User namespaces are off: set the sysctls user.max_user_namespaces above 0 and kernel.unprivileged_userns_clone to 1; on Ubuntu 24.04 and later give bwrap an AppArmor profile with userns.',
  },
  {
    pattern: /Can't mount proc/,
    advice:
      'The server runs in a container that masks /proc. Give it seccomp=unconfined, apparmor=unconfined and systempaths=unconfined, or run it in a virtual machine.',
  },
  {
    pattern: /Failed to make \/ slave|setresuid failed|setresgid failed|Operation not permitted/,
    advice:
      'A server that runs as root needs CAP_SYS_ADMIN, CAP_SETUID and CAP_SETGID; an unprivileged user is simpler and recommended.',
  },
  {
    pattern: /Unknown option/,
    advice: 'This bwrap is too old; 0.8.0 is the first that works, 0.12 is recommended.',
  },
];

/** Null for failures nobody has seen yet, and for those of the command itself (a directory that does not exist). */
export function adviceFor(message: string): string | null {
  return knownFailures.find(({ pattern }) => pattern.test(message))?.advice ?? null;
}

/** Versions before 0.12 follow symlinks below a writable mount while they set up (CVE-2026-87766). */
export function hasSymlinkFlaw(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major === 0 && minor < 12;
}
