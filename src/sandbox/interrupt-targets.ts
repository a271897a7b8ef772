/** Which processes of a sandbox get SIGINT when its command is asked to stop. Pure. */
import { descendantsOf, type Process } from './process-tree.ts';

export interface SandboxShape {
  /** The pid 1 of the outermost process namespace. */
  readonly init: number;
  /** Whether there is a second bwrap in the first (launch.ts). */
  readonly isStaged: boolean;
  readonly isShell: boolean;
}

/**
 * Tools get the signal alone, because they tell their children themselves: a provider that is interrupted too loses
 * what it was creating. Shells tell nobody, so all they run gets it. Empty while the command has not started: a
 * sandbox may be asked to stop at any moment of its start, and then each link of the chain may be missing.
 */
export function interruptTargets(processes: readonly Process[], shape: SandboxShape): number[] {
  const childOf = (parent: number | undefined, isWanted = (_child: Process) => true) =>
    parent === undefined
      ? undefined
      : processes.find((child) => child.parent === parent && isWanted(child))?.pid;
  // Pid 2 is the one process that a pid 1 of bwrap starts; others under it are orphans.
  const startedBy = (init: number | undefined) => childOf(init, ({ innerPid }) => innerPid === 2);

  const sandboxInit = shape.isStaged ? childOf(startedBy(shape.init)) : shape.init;
  const main = startedBy(sandboxInit);
  if (sandboxInit === undefined || main === undefined) return [];
  if (!shape.isShell) return [main];
  return descendantsOf(sandboxInit, processes).map(({ pid }) => pid);
}

/** `bash -c` and the like, as hooks are run. */
export function isShellCommand(argv: readonly string[]): boolean {
  const [program = '', ...options] = argv;
  const name = program.slice(program.lastIndexOf('/') + 1);
  const isShell = ['ash', 'bash', 'dash', 'sh', 'zsh'].includes(name);
  return isShell && options.some((option) => /^-[a-z]*c$/.test(option));
}
