/** Who is who in a sandbox, and which of its processes get SIGINT when its command is asked to stop. Pure. */
import { descendantsOf, type Process } from '../process-tree.ts';

export interface SandboxShape {
  /** The pid 1 of the outermost process namespace. */
  readonly init: number;
  /** Whether there is a second bwrap in the first (launch.ts). */
  readonly isStaged: boolean;
  readonly isShell: boolean;
}

/** The pid 1 of what the command of a staged sandbox runs in. Undefined while there is none. */
export function innermostInit(processes: readonly Process[], outermost: number): number | undefined {
  return childOf(startedBy(outermost, processes), processes);
}

/**
 * Tools get the signal alone, because they tell their children themselves: a provider that is interrupted too loses
 * what it was creating. Shells tell nobody, so all they run gets it. Empty while the command has not started: a
 * sandbox may be asked to stop at any moment of its start, and then each link of the chain may be missing.
 */
export function interruptTargets(processes: readonly Process[], shape: SandboxShape): number[] {
  const sandboxInit = shape.isStaged ? innermostInit(processes, shape.init) : shape.init;
  const main = startedBy(sandboxInit, processes);
  if (sandboxInit === undefined || main === undefined) return [];
  if (!shape.isShell) return [main];
  return descendantsOf(sandboxInit, processes).map(({ pid }) => pid);
}

function childOf(
  parent: number | undefined,
  processes: readonly Process[],
  isWanted = (_child: Process) => true,
): number | undefined {
  if (parent === undefined) return undefined;
  return processes.find((child) => child.parent === parent && isWanted(child))?.pid;
}

/** Pid 2 is the one process that a pid 1 of bwrap starts; others under it are orphans. */
function startedBy(init: number | undefined, processes: readonly Process[]): number | undefined {
  return childOf(init, processes, ({ innerPid }) => innerPid === 2);
}

/** `bash -c` and the like, as hooks are run. */
export function isShellCommand(argv: readonly string[]): boolean {
  const [program = '', ...options] = argv;
  const name = program.slice(program.lastIndexOf('/') + 1);
  const isShell = ['ash', 'bash', 'dash', 'sh', 'zsh'].includes(name);
  return isShell && options.some((option) => /^-[a-z]*c$/.test(option));
}
