import type { Actor } from '../access/actor.ts';
import { type Config, readConfig } from '../config.ts';
import type { Simulation } from '../github/simulate/decision.ts';
import type { SimulatedEvent } from '../github/simulate/events.ts';
import { createLogger, type Logger } from '../logger.ts';
import type { CheckedSource } from '../policies/check-source.ts';
import type { TestReport } from '../policies/opa-test.ts';
import type { PolicyKind, PolicySource, RegoVersion } from '../policies/policy.ts';
import type { FoundProject, ProjectQuestion } from '../project-import.ts';
import type { SelfTestResult } from '../sandbox/self-test.ts';
import type { DoctorReport } from '../web/health.ts';

/** The world as a command sees it, so that tests can be the world. */
export interface CliContext {
  /** The result, and nothing else. */
  readonly out: (text: string) => void;
  /** What is said to people beside it, and logs. */
  readonly err: (text: string) => void;
  /** All of standard input, to its end. */
  readonly readInput: () => Promise<Uint8Array>;
  readonly inputIsTerminal: boolean;
  readonly outputIsTerminal: boolean;
  readonly environment: () => Readonly<Record<string, string | undefined>>;
  /** Where `.env` is read. */
  readonly directory: string;
  /** Asked for by commands that clean up: aborted by Ctrl-C or SIGTERM, which then do not end the process. */
  readonly interrupted: () => AbortSignal;
  readonly openApp: (config: Config, logger: Logger) => Promise<CliApp>;
  /** Resolves with the exit code once the server has stopped. */
  readonly serve: () => Promise<number>;
  readonly fetch: typeof fetch;
  readonly checkFile: (content: Uint8Array) => Promise<CheckedFile>;
  readonly findProject: (config: Config, question: ProjectQuestion) => Promise<FoundProject>;
  readonly simulate: (config: Config, event: EventToSimulate) => Promise<Simulation>;
  readonly checkPolicy: (config: Config, kind: PolicyKind, source: PolicySource) => Promise<CheckedSource>;
  readonly testSandbox: (config: Config) => Promise<SelfTestResult>;
  readonly testPolicies: (config: Config, request: FolderToTest) => Promise<TestReport>;
}

export interface FolderToTest {
  readonly folder: string;
  readonly regoVersion: RegoVersion;
  readonly signal: AbortSignal;
}

export interface EventToSimulate {
  readonly event: SimulatedEvent;
  /** The body of a webhook, parsed. */
  readonly payload: unknown;
  /** A clone of the repository. */
  readonly directory: string;
  /** Undefined: those of the repository file only. */
  readonly otherStacks: unknown;
}

/** What a repository file says: ids of stacks, or problems; lines and columns count from 1. */
export interface CheckedFile {
  readonly stacks: readonly string[];
  readonly problems: readonly { readonly line: number; readonly column: number; readonly message: string }[];
}

/** The part of app.ts that commands use. */
export interface CliApp extends AsyncDisposable {
  fetchAs(actor: Actor, request: Request): Promise<Response>;
  doctor(options: { readonly withGithub: boolean }): Promise<DoctorReport>;
}

/** Opens the installation of this machine, with logs on standard error. */
export async function openLocal(context: CliContext, config: Config): Promise<CliApp> {
  // A command is no server: "info" would bury its result.
  const level = config.logLevel === 'info' ? 'warn' : config.logLevel;
  return context.openApp(config, createLogger(level, { write: context.err }));
}

export function configOf(context: CliContext): Config {
  return readConfig(context.environment());
}
