import type { VendorRules, VendorSettings } from '../stacks/vendor-settings.ts';
import type { ApplyResult, PlanResult, PlanStep, VendorFailure } from './vendor-results.ts';

/**
 * The port to an infrastructure tool. A vendor says which commands a phase runs and what their results
 * mean; it starts nothing itself. The worker runs the commands in the sandbox, keeps the order of hooks,
 * and hands back what the commands left in their output directory.
 *
 * Who adds a tool writes this, its rules (stacks/vendor-settings.ts) and a row of the contract that every vendor keeps
 * (test/vendors/contract). Methods are called for many runs at once: what one of them remembers, all of them see.
 */
export interface Vendor extends VendorRules {
  /** One line with name, path and version, for `doctor` and logs. Null when the tool is missing. */
  readonly tool: VendorTool | null;
  /** Why `tool` is null (missing, too old, not the program itself), for `doctor` and check runs; else null. */
  readonly toolProblem: string | null;

  /**
   * Host files and directories the tool needs inside, mounted read-only for every command. Empty while `tool` is null,
   * and for what lies below /usr, which every sandbox has.
   */
  toolMounts(): readonly { source: string; target: string }[];

  /** Directories (inside) that stand first on PATH: whatever hooks put there, the tool stays the server's. */
  toolPath(): readonly string[];

  /**
   * Variables every command of the run gets, hooks and tasks included, over the user's: what keeps the tool to the stack's
   * state and account, quiet, without questions, colours and checks for news, and out of the checkout with what is no
   * source. `refusesVariable` must refuse the same names.
   */
  baseEnvironment(context: VendorContext): Record<string, string>;

  /** A file of these must lie in the project root; tools look further up and would run another project. */
  readonly projectFile: {
    /** As the end of "The repository has no ...". */
    readonly called: string;
    matches(name: string): boolean;
  };

  /**
   * Text after which the tool prints values without regard to secrets that nobody can tell it: the rest of that stream is
   * not stored. Where the plan tells the secrets, see `holdsBackAfter`.
   */
  readonly hiddenAfter: readonly string[];

  /**
   * The local state a stack keeps on this host, if any: `name` is one path segment or null.
   * The worker creates the directory and mounts it at `target`; PROPOSED runs get a copy. `isInClear`: the tool writes
   * secrets into it as they are, so untrusted runs get none. Null: the tool's own backend.
   */
  localState(settings: VendorSettings): { name: string | null; target: string; isInClear: boolean } | null;
  /**
   * A command that mends, in the directory of a local state, what the tool leaves when it is killed. Other runs
   * may be using the state meanwhile. Null: nothing needs mending.
   */
  readonly mendLocalState: readonly [string, ...string[]] | null;

  /**
   * The commands of initialization, in order; hooks are the worker's. Afterwards hooks and tasks can use the tool on the
   * stack's state, and so can the second half of the run, whose commands do not initialize again. The first one that
   * fails ends the run, as `explain` says.
   */
  initialize(context: VendorContext): readonly InitializeStep[];
  /**
   * The commands that find out what an apply (or a tear-down) would do, and save that where an apply can be held to it.
   * They look at the real world (refresh) and change nothing, however they end. In order, with one output directory for
   * all of them; the first that does not succeed is the last. Called more than once for a run: the same again.
   */
  plan(context: VendorContext, kind: 'apply' | 'destroy'): readonly [VendorCommand, ...VendorCommand[]];
  /**
   * The command that does what was planned; no question may be left to it. With a `planPath` it does exactly that plan or
   * nothing, and fails when the state has moved since. One SIGINT must let it finish and record what is under way and
   * release its lock: see sandbox/launching/interrupt-targets.ts.
   */
  apply(context: VendorContext, kind: 'apply' | 'destroy', options: ApplyOptions): VendorCommand;

  /**
   * What a failed command of initialization means, in words for a check run: the tool's own first error at least, with the
   * file and the line it names. Never throws.
   */
  explain(result: FailedCommand): VendorFailure;

  /** Whether before_init hooks come before or after the tool's own commands of initialization. */
  readonly beforeInitHooks: 'before-commands' | 'after-commands';

  /**
   * Reads what the commands of `plan` left: those that ran, in their order. `failed` when the tool says so, with its first
   * error and where in the program it is; who holds a lock stands in `trouble` too. Exit code and content must agree, and
   * whatever is not understood makes the plan `unreadable`: nobody may confirm what we guessed. Never throws for bad
   * content. No secret of the tool's may be in steps, marks, document or message: "[secret]" stands in their place.
   */
  readPlan(
    outputs: readonly [CommandOutputs, ...CommandOutputs[]],
    kind: 'apply' | 'destroy',
  ): Promise<PlanResult>;
  /**
   * Whether the apply did all it should: exit code and content must agree on that. `plan-changed` only when nothing was
   * changed because the confirmed plan no longer holds. `confirmed` gives the steps of the plan that was bound; asked only
   * to tell what differs from them. Never throws for bad content.
   */
  readApply(outputs: CommandOutputs, confirmed: () => Promise<readonly PlanStep[]>): Promise<ApplyResult>;

  readonly destroyBinding: DestroyBinding;

  /**
   * Looks for what an apply that was cut off has left half done in the state: run before the plan, once such an apply
   * was the stack's last. Null: the tool leaves nothing that could be found.
   */
  readonly stateCheck: {
    command(context: VendorContext): VendorCommand;
    /** Null when nothing is left half done that a run would not mend; what it would, `tell` says in the log. Never throws. */
    read(outputs: CommandOutputs, tell: (line: string) => void): Promise<VendorFailure | null>;
  } | null;
}

/**
 * How a tear-down is held to what was confirmed. `plan-file`: by the saved plan, as an apply is.
 * `second-plan`: the tool's tear-down takes no plan; it is planned once more right before, and the steps are
 * compared.
 */
export type DestroyBinding =
  | { readonly kind: 'plan-file' }
  | {
      readonly kind: 'second-plan';
      /** Null when both do the same. */
      compare(confirmed: readonly PlanStep[], now: readonly PlanStep[]): VendorFailure | null;
    };

export interface VendorTool {
  readonly path: string;
  readonly version: string;
}

export interface VendorContext {
  readonly settings: VendorSettings;
  /**
   * Inside paths. `home` is private to the run and survives from phase to phase; `login` does so until the
   * plan is made, and takes the credentials of a login.
   */
  readonly paths: {
    /** Of the whole repository. */
    readonly checkout: string;
    readonly projectRoot: string;
    readonly home: string;
    readonly login: string;
    readonly output: string;
    /** Where tools keep what they download, for the next runs of the repository too. Null: nothing is kept. */
    readonly cache: string | null;
  };
  /** With SANDBOX=none there are no mounts: the host directory of the local state, else null. */
  readonly localStateDirectory: string | null;
}

export interface VendorCommand {
  /** For people: what stands in the log before the command. */
  readonly label: string;
  readonly argv: readonly [string, ...string[]];
  /** Over `baseEnvironment`, for this command only. */
  readonly environment: Readonly<Record<string, string>>;
  /** True when the command writes files (event log, plan) to the output directory. */
  readonly writesOutput: boolean;
  /** Exit codes by which it has succeeded. Left out: 0. */
  readonly successCodes?: readonly number[];
  /** Its standard output is data for the vendor (`CommandOutputs.captured`), and not for the log. */
  readonly capturesStdout?: true;
  /**
   * Of a command of `plan`: what its standard output says from a line with one of these texts on waits. What the tool
   * marks as secret is known once the plan is read; only then the rest goes into the log, without it. It is not in
   * `stdoutTail`.
   */
  readonly holdsBackAfter?: readonly string[];
}

/**
 * A command of initialization. When the first form fails in the way `fallback.when` recognises, the
 * fallback runs instead; the vendor remembers that for the binary.
 */
export interface InitializeStep {
  readonly command: VendorCommand;
  readonly fallback?: {
    when(result: { exitCode: number; stderr: string }): boolean;
    command: VendorCommand;
    /** Called once the fallback was needed. */
    remember(): void;
  };
}

export interface ApplyOptions {
  /** Inside path of the confirmed plan, or null when plan binding is off. */
  readonly planPath: string | null;
  /** True when the apply follows the plan at once in the same workspace: the tool's own preview is skipped. */
  readonly followsPlan: boolean;
}

export interface FailedCommand {
  readonly exitCode: number;
  /** The last 64 KiB of each stream, decoded, redacted. */
  readonly stdoutTail: string;
  readonly stderrTail: string;
}

export interface CommandOutputs extends FailedCommand {
  /**
   * Opens a file the command left in its output directory by plain name. Null when it is missing, is not
   * a regular file, or is larger than `maxBytes`.
   */
  read(name: string, maxBytes: number): Promise<AsyncIterable<Uint8Array> | null>;
  /** Standard output of a command with `capturesStdout`, not redacted; null for others, and when it was too large. */
  readonly captured: Uint8Array | null;
}
