/** What an attack finds, and what the other side sees of it. Types only; arena.ts sets it up. */
import type { Limits, OpenAccess, Sandbox, SandboxResult } from '../../src/sandbox/sandbox.ts';

/** Names of the listeners that a command must not reach. */
export type ListenerName =
  | 'loopback'
  | 'loopback6'
  | 'abstract'
  | 'docker'
  | 'metadata'
  | 'host'
  | 'datagram';

export interface Scene {
  /** 0711, of the server, the parent of all that is here. */
  readonly root: string;
  /** 0700: slipway.db and secret.key, which hold `secret`. */
  readonly state: string;
  /** Of the run, empty at first; the program starts in it. */
  readonly workspace: string;
  /** Of another run; holds `secret`. */
  readonly neighbour: string;
  /** In the server's environment, arguments, memory and files, and in those of other processes; nowhere else. */
  readonly secret: string;
  /** In the environment of every process of this attempt, and in names of whatever it makes. */
  readonly mark: string;
  /** A process of the server's user that nobody must touch. */
  readonly victim: number;
  /** On the host, of the commands. */
  readonly user: number;
  readonly targets: Readonly<Record<string, string>>;
  /** Host pids of this attempt's processes that are alive now. */
  readonly processes: () => readonly number[];
  /** Whether anything with the mark in it arrived there. */
  readonly wasReached: (listener: ListenerName) => boolean;
  /** What was typed into the server's terminal. */
  readonly typed: () => string;
  /** Kernel keys that the user of the commands can see. */
  readonly keys: () => string;
  readonly kernelLog: () => string;
  /** Null until it ended. */
  readonly outcome: Outcome | null;
  /** Of `Attack.server`; undefined when it did not come to an end in time. */
  readonly answer: unknown;
  readonly driver: Driver;
  /** Of the run, see RunIdentity. */
  readonly run: string;
}

export interface Outcome {
  readonly kind: SandboxResult['kind'];
  readonly durationMs: number;
  readonly receivedBytes: number;
  /** The first of what it printed. */
  readonly output: string;
}

export interface Evidence {
  readonly when: 'during' | 'after';
  readonly seen: (scene: Scene) => boolean;
}

export interface Command {
  readonly argv: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
  /** On the host. */
  readonly workspace: string;
  /** Of the run, see RunIdentity. */
  readonly run: string;
  readonly limits: Limits;
  readonly access: OpenAccess | null;
  readonly signal: AbortSignal;
}

/** How a server runs commands: as its own children, or in the sandbox. */
export interface Driver {
  readonly kind: 'plain' | 'bubblewrap';
  readonly sandbox: Sandbox;
  readonly run: (command: Command) => Promise<Outcome>;
  readonly own: (directory: string, run: string) => Promise<void>;
  readonly remove: (directory: string, run: string) => Promise<void>;
  /** Of its commands, on the host. */
  readonly userOf: (run: string) => number;
}
