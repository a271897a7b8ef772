/** Why bwrap did not start a command, by its text (0.8.0 and 0.12.0; the source has no translations). */

export type Refusal =
  | ('programs' | 'setuid' | 'namespaces' | 'apparmor' | 'filter' | 'proc' | 'mounts')
  | ('capabilities' | 'users' | 'version');

interface KnownRefusal {
  readonly says: RegExp;
  /** Where nothing more is known of the machine; refusals.ts knows more. */
  readonly advice: string;
}

/** A text can have several reasons: the kernel answers EPERM to all of them. The likeliest comes first. */
const known: Readonly<Record<Refusal, KnownRefusal>> = {
  programs: {
    says: /ENOENT|failed to execute|^nice: |execvp (?:setpriv|prlimit|bwrap):/,
    advice: 'Install bubblewrap and util-linux (Debian, Ubuntu: apt-get install bubblewrap util-linux).',
  },
  users: {
    says: /no users to give to runs/,
    advice: 'Start the server as an unprivileged user, or give its container more users than root.',
  },
  setuid: {
    says: /in setuid mode|when not setuid|setuid binary/i,
    advice: 'Take the setuid bit from bwrap (chmod u-s), and let the kernel give it user namespaces instead.',
  },
  proc: {
    says: /Can't mount proc/,
    advice:
      'The server runs in a container that masks /proc. Give it seccomp=unconfined, apparmor=unconfined and systempaths=unconfined, or run it in a virtual machine.',
  },
  namespaces: {
    says: /No permissions to creat\w* (?:a )?new namespace|Creating new namespace failed|unshare user ns/,
    advice:
      'User namespaces are off: set the sysctls user.max_user_namespaces above 0 and kernel.unprivileged_userns_clone to 1 (of a container: on its host); on Ubuntu 24.04 and later give bwrap an AppArmor profile with userns.',
  },
  apparmor: {
    says: /No permissions to creat|Creating new namespace failed|setting up uid map|RTM_NEWADDR|Failed to make \/ slave/,
    advice:
      'Something keeps bwrap from using its user namespace: on Ubuntu 24.04 and later give it an AppArmor profile with userns.',
  },
  filter: {
    says: /Can't set hostname|No permissions to creat|Creating new namespace failed|unshare user ns|pivot_root/,
    advice:
      'A system-call filter forbids what the sandbox is made with: give a container seccomp=unconfined, and a systemd unit the calls of deploy/slipway.service, without ProtectHostname.',
  },
  // Of root servers only: others need none.
  capabilities: {
    says: /setresuid failed|setresgid failed|Operation not permitted/,
    advice:
      'A server that runs as root needs CAP_SYS_ADMIN, CAP_SETUID and CAP_SETGID; an unprivileged user is simpler and recommended.',
  },
  mounts: {
    says: /Failed to make \/ slave|Can't (?:bind )?mount (?!proc)|Failed to (?:re)?mount|pivot_root/,
    advice: 'Something forbids mounts inside a user namespace: in a container, give it apparmor=unconfined.',
  },
  version: {
    says: /Unknown option/,
    advice: 'This bwrap is too old; 0.8.0 is the first that works, 0.12 is recommended.',
  },
};

/** What the text may mean, the likeliest first; none of what nobody has seen yet. `isRoot`: the server is. */
export function refusalsIn(message: string, isRoot: boolean): Refusal[] {
  const names = Object.keys(known) as Refusal[];
  return names.filter((name) => (isRoot || name !== 'capabilities') && known[name].says.test(message));
}

/** Null for failures nobody has seen yet, and for those of the command itself (a directory that does not exist). */
export function adviceFor(message: string, isRoot: boolean): string | null {
  const [first] = refusalsIn(message, isRoot);
  return first === undefined ? null : adviceOf(first);
}

export function adviceOf(refusal: Refusal): string {
  return known[refusal].advice;
}

/** Versions before 0.12 follow symlinks below a writable mount while they set up (CVE-2026-87766). */
export function hasSymlinkFlaw(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major === 0 && minor < 12;
}
