/**
 * The port to whatever keeps hostile repository code in: one command in, one outcome out.
 *
 * A command sees only the mounts, files and environment named here, and reaches the network only through
 * the proxy of a network that was opened for its run. The sandbox knows nothing about runs, vendors or secrets; it is told what to mount and
 * which values to hide. Implementations: `bubblewrap.ts`, and `none.ts`, which an operator has to ask for.
 */
export interface Sandbox {
  readonly kind: 'bubblewrap' | 'none';

  /** One line for `doctor`, the health page and check runs: driver, version, tier. */
  describe(): string;

  /**
   * Prepares a directory that commands of one run may write, so that the identity they run under owns it.
   * The parents must be writable by the server only (mount sources are trusted up to the last segment).
   * Rejects when a file in it is a hard link of one elsewhere: a run could write the other through it
   * (check repositories out with `--no-hardlinks`).
   */
  own(directory: string, identity: RunIdentity): Promise<void>;

  /**
   * A way out for the commands of one identity: a proxy that judges each connection, and a loopback interface of
   * their own on which it can be reached. Never rejects for what the machine lacks: a command that is to use a
   * network which could not be opened, or has ended since, is `unavailable`. Commands that use it must have ended before it is closed.
   */
  openNetwork(access: OpenAccess, options: NetworkOptions): Promise<OpenNetwork>;

  /**
   * Runs one command to its end. Never rejects for anything the command does; rejects only for bugs.
   * After it resolves no process of the command is left.
   */
  run(command: SandboxCommand): Promise<SandboxResult>;

  /** Removes a directory that a run could write, whatever modes, depth or number of files it left there. */
  remove(directory: string, identity: RunIdentity): Promise<void>;
}

/**
 * Commands of one run share an identity; two runs that are active at once do so only where they have to
 * share files: runs on one local state or one cache. They are kept apart by namespaces even then, but count as one user.
 */
export interface RunIdentity {
  /** Stable for the life of the run, e.g. its id. */
  readonly key: string;
}

export interface SandboxCommand {
  readonly identity: RunIdentity;
  /** The program by absolute path inside the sandbox, or by name looked up on the PATH of `environment`. */
  readonly argv: readonly [string, ...string[]];
  /**
   * Everything the command sees; nothing is inherited. The driver adds PWD, and with network the proxy
   * variables (its own win) and those of the certificate bundle (yours win).
   */
  readonly environment: Readonly<Record<string, string>>;
  /** Absolute, inside. */
  readonly workingDirectory: string;
  readonly mounts: readonly Mount[];
  /** Null: none at all. */
  readonly network: OpenNetwork | null;
  readonly limits: Limits;
  /**
   * Directories on the host whose contents count against `limits.diskBytes` and `diskEntries`, together; their
   * parents are the server's. Without any the disk is not watched.
   */
  readonly watched?: readonly string[];
  /**
   * Called with each chunk in order of arrival, already capped but not redacted. Nothing more is read of that
   * stream until a promise it gives is resolved: the command waits, and its silence does not count. Must not
   * throw or reject.
   */
  readonly onOutput: (stream: 'stdout' | 'stderr', chunk: Uint8Array) => void | Promise<void>;
  /**
   * Aborting asks the command to stop: SIGINT, after `limits.graceMs` a second SIGINT, after 15 s more
   * SIGKILL of the whole sandbox. The result is then `stopped` whatever exit code the command found.
   */
  readonly signal: AbortSignal;
}

export interface Mount {
  /** On the host. Never at or below a path that a run can write, except that path itself. */
  readonly source: string;
  /** Inside; absolute; never below the target of a writable mount. */
  readonly target: string;
  readonly writable: boolean;
}

export type NetworkAccess = { readonly mode: 'none' } | OpenAccess;

export interface OpenAccess {
  readonly mode: 'public' | 'allowlist';
  /** Hosts, `*.suffix`, or private targets (`host`, CIDR, each optionally `:port`); see proxy-rules.ts. */
  readonly allowedHosts: readonly string[];
  /** The setting that this list was read from, for whoever is refused; left out: SANDBOX_ALLOWED_HOSTS. */
  readonly setting?: string;
}

export interface NetworkOptions {
  readonly identity: RunIdentity;
  /** Called for each connection that a command asked the proxy for. For the run's log. Must not throw. */
  readonly onConnection?: (connection: ConnectionDecision) => void;
  /** Called once for each connection that was allowed, when it is over: by then the network may be closed. Must not throw. */
  readonly onConnectionEnd?: (end: ConnectionEnd) => void;
  /** Gives up the opening; does nothing to a network that is open. */
  readonly signal?: AbortSignal;
}

export interface OpenNetwork extends AsyncDisposable {
  readonly kind: 'network';
}

export interface ConnectionDecision {
  readonly host: string;
  readonly port: number;
  /** Fit for a log: `allowed`, or why not. */
  readonly decision: string;
  readonly isAllowed: boolean;
}

export interface ConnectionEnd {
  readonly host: string;
  readonly port: number;
  /** From the command to the destination and back, as they travel: with TLS, and of plain http with the headers. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
  /** Fit for a log: why the destination was not reached; null when it was. */
  readonly failure: string | null;
}

export interface Limits {
  readonly wallMs: number;
  /** Without a byte of output for so long; null = no limit. */
  readonly silenceMs: number | null;
  /** Bytes of stdout and stderr together after which the command is killed. */
  readonly outputBytes: number;
  /** Processes and threads at once. The kernel refuses more; without a sandbox more is the end of the command. */
  readonly processes: number;
  /**
   * What all processes of the command hold together, with what lies in the sandbox's own tmpfs. Found now and then: a
   * command that is quick gets further, and is then killed at once.
   */
  readonly memoryBytes: number;
  /** Bytes of RLIMIT_DATA of each process: reserved, not held. Node 24 does not start below 1 GiB. */
  readonly dataBytes: number;
  readonly fileBytes: number;
  /** Files and directories in the sandbox's own tmpfs, whose size bounds their contents only. Found now and then. */
  readonly temporaryEntries: number;
  /**
   * Blocks and names that `watched` may hold. Found now and then, not enforced by the kernel: a command that is
   * quick gets further, and one that does not listen is killed at twice as much.
   */
  readonly diskBytes: number;
  readonly diskEntries: number;
  /** The command is killed once less is free on the file system of what is `watched`; null = it never is. */
  readonly freeBytes: number | null;
  /**
   * So many looks in a row at `watched` may fail for reasons of the server (no process or descriptor to spare, a disk
   * that hangs) before the command is asked to stop; null = it never is.
   */
  readonly failedLooks: number | null;
  /** Between the first and the second SIGINT. */
  readonly graceMs: number;
}

/**
 * What a command used, as far as it was looked at; null is what was not: a command that ended before the first look, or one whose
 * processes cannot be seen. Peaks between two looks are missed.
 */
export interface Usage {
  readonly peakMemoryBytes: number | null;
  /** Threads count. */
  readonly peakProcesses: number | null;
  readonly cpuMs: number | null;
}

/**
 * Of what is `watched`: it holds too much, or what it holds cannot be told (`unreadable`: the command closed directories;
 * `unwatched`: the server failed to look, see `failedLooks`), or the disk runs full, by whoever it is (`free_space`).
 * Of others: `temporary`, the sandbox's own tmpfs has too many files; `file`, a single file became larger than
 * `fileBytes` (only told by the command's end, see its exit code).
 */
export type DiskReason =
  | 'bytes'
  | 'entries'
  | 'unreadable'
  | 'unwatched'
  | 'free_space'
  | 'temporary'
  | 'file';

export type SandboxResult =
  | (Ended & { readonly kind: 'exited'; readonly exitCode: number })
  /** Ended by us. `exitCode` is what the command answered to the polite signal, null after SIGKILL. */
  | (Ended & {
      readonly kind: 'stopped' | 'timeout' | 'silence' | 'output_limit';
      readonly exitCode: number | null;
    })
  | (Ended & {
      readonly kind: 'disk_limit';
      readonly reason: DiskReason;
      readonly exitCode: number | null;
    })
  /** Its processes held more than `limits.memoryBytes` together; all of them were killed at once. */
  | (Ended & { readonly kind: 'memory_limit'; readonly exitCode: null })
  /**
   * It failed by itself after it was seen to have as many processes and threads as it may; null: it had more, and was killed.
   */
  | (Ended & { readonly kind: 'process_limit'; readonly exitCode: number | null })
  /** It did start, and somebody else ended it: the kernel for lack of memory, or the operator. */
  | (Ended & { readonly kind: 'killed' })
  /** The command never started: no sandbox, or no such program inside. */
  | { readonly kind: 'unavailable'; readonly message: string; readonly durationMs: number };

interface Ended {
  readonly durationMs: number;
  readonly usage: Usage;
}
