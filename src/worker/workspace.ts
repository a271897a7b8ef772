import { chmod, lstat, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { type Rights, rightsOf, trustOfRun } from '../runs/trust.ts';
import type { Limits, Mount, RunIdentity, Sandbox } from '../sandbox/sandbox.ts';
import { UserError } from '../user-error.ts';
import type { CacheSize, Caches, OpenedCache } from './caches.ts';
import { copyLocalState, mendLocalState, openLocalState } from './local-state.ts';
import { repositoryIdentity } from './repository-identity.ts';
import type { Assignment } from './server-api.ts';
import type { Vendor } from './vendor.ts';

/**
 * The directories of one run on this host. Everything a run can write is one level below `root`, whose
 * own entries only the server changes: no mount ever starts at or below a path a run controls.
 */
export interface Workspace {
  readonly root: string;
  readonly identity: RunIdentity;
  /** Paths as the commands see them. With SANDBOX=none they are those of the host. */
  readonly inside: Directories;
  readonly host: Directories;
  readonly localState: { readonly host: string; readonly inside: string } | null;
  /** Of downloads; `before` is what lay in it when the run was given it. Null: tools keep them in the run's home. */
  readonly cache: { readonly host: string; readonly inside: string; readonly before: CacheSize } | null;
  /** Lines for the log of the run. */
  readonly notes: readonly string[];
}

export interface Directories {
  readonly tree: string;
  readonly git: string;
  readonly home: string;
  /** On disk, not in memory: builds of large programs need gigabytes of it. */
  readonly tmp: string;
  /** What logging in to a state backend leaves: credentials, in clear. */
  readonly login: string;
}

export interface Workspaces {
  /** An empty workspace; whatever an earlier attempt left is removed first. */
  create(assignment: Assignment, vendor: Vendor, signal: AbortSignal): Promise<Workspace>;
  /** The workspace a run kept over its confirmation; null when it is gone. */
  reopen(assignment: Assignment, vendor: Vendor): Promise<Workspace | null>;
  /** Gives what was fetched to the run's identity. */
  handOver(workspace: Workspace): Promise<void>;
  /** Empties what must not lie about while a run waits for a person: credentials of the login, output of commands. */
  tidy(workspace: Workspace): Promise<void>;
  /**
   * True for the first call of a workspace, false ever after, crashes included: nobody knows how far hooks came
   * that were cut off, so they are not run again.
   */
  beginAfterRun(workspace: Workspace): Promise<boolean>;
  remove(runId: string): Promise<void>;
  /** Removes what a former life of the server left, except the workspaces of these runs; says what it could not. */
  sweep(keep: ReadonlySet<string>): Promise<readonly unknown[]>;
}

export function createWorkspaces(parts: {
  directory: string;
  stateDirectory: string;
  sandbox: Sandbox;
  caches: Pick<Caches, 'share' | 'copy' | 'reopen'>;
}): Workspaces {
  const { directory, sandbox, caches } = parts;
  const rootOf = (runId: string) => join(directory, runId);

  function describe({ run, stack, frozen }: Assignment, vendor: Vendor, opened: OpenedCache): Workspace {
    const root = rootOf(run.id);
    const host = {
      tree: join(root, 'tree'),
      git: join(root, 'git'),
      home: join(root, 'home'),
      tmp: join(root, 'tmp'),
      login: join(root, 'login'),
    };
    const inside =
      sandbox.kind === 'none'
        ? host
        : { tree: '/workspace', git: '/git', home: '/home/runner', tmp: '/tmp', login: '/login' };
    const { cache, note, isShared } = opened;
    const common = {
      ...{ root, host, inside, identity: identityOf({ run, stack, frozen }, vendor, isShared) },
      cache: cache && { ...cache, inside: sandbox.kind === 'none' ? cache.host : '/cache' },
      notes: note === undefined ? [] : [note],
    };
    const local = vendor.localState(frozen.settings.vendor);
    if (!local) return { ...common, localState: null };
    const shared = join(parts.stateDirectory, String(stack.repository.id), local.name ?? '_');
    // A branch must not write the real state: previews work on a copy that goes with the workspace.
    const hostState = rightsOfRun(run).sharesState ? shared : join(root, 'state');
    return {
      ...common,
      localState: { host: hostState, inside: sandbox.kind === 'none' ? hostState : local.target },
    };
  }

  async function prepareLocalState(
    workspace: Workspace,
    assignment: Assignment,
    vendor: Vendor,
    signal: AbortSignal,
  ): Promise<void> {
    const local = vendor.localState(assignment.frozen.settings.vendor);
    if (!local || !workspace.localState) return;
    if (local.isInClear && !rightsOfRun(assignment.run).seesStateInClear) throw secretState(vendor);
    const { repository } = assignment.stack;
    const shared = join(parts.stateDirectory, String(repository.id), local.name ?? '_');
    const owner = repositoryIdentity(repository.id);
    await openLocalState(sandbox, shared, owner);
    if (vendor.mendLocalState) await mendLocalState(sandbox, shared, owner, vendor.mendLocalState, signal);
    const { host } = workspace.localState;
    if (host === shared) return;
    await copyLocalState(sandbox, shared, host, owner, signal);
    await sandbox.own(host, workspace.identity);
  }

  function openCache(assignment: Assignment, vendor: Vendor, signal: AbortSignal): Promise<OpenedCache> {
    const { run, stack } = assignment;
    const user = { runId: run.id, repositoryId: stack.repository.id, signal };
    if (rightsOfRun(run).sharesCache) return caches.share(user);
    return caches.copy(user, identityOf(assignment, vendor, false));
  }

  async function remove(runId: string): Promise<void> {
    const root = rootOf(runId);
    if (await exists(root)) await sandbox.remove(root, { key: runId });
  }

  return {
    async create(assignment, vendor, signal) {
      await remove(assignment.run.id);
      const root = rootOf(assignment.run.id);
      // 0711: the run's identity passes through, but cannot list what lies beside its own directories.
      await mkdir(root, { recursive: true, mode: 0o711 });
      await chmod(root, 0o711);
      const workspace = describe(assignment, vendor, await openCache(assignment, vendor, signal));
      for (const path of Object.values(workspace.host)) await mkdir(path, { mode: 0o700 });
      await mkdir(join(workspace.root, 'out'), { mode: 0o711 });
      await prepareLocalState(workspace, assignment, vendor, signal);
      return workspace;
    },

    async reopen(assignment, vendor) {
      const opened = await caches.reopen(assignment.run.id);
      const workspace = describe(assignment, vendor, opened);
      return (await exists(workspace.host.tree)) ? workspace : null;
    },

    async handOver(workspace) {
      // A gitfile, not GIT_DIR: tools that clone something else inside must not inherit our repository.
      await writeFile(join(workspace.host.tree, '.git'), `gitdir: ${workspace.inside.git}\n`);
      await Promise.all(Object.values(workspace.host).map((path) => sandbox.own(path, workspace.identity)));
    },

    async tidy({ root, host, identity }) {
      const out = join(root, 'out');
      await Promise.all([host.login, out].map((path) => sandbox.remove(path, identity)));
      await mkdir(out, { mode: 0o711 });
      await mkdir(host.login, { mode: 0o700 });
      await sandbox.own(host.login, identity);
    },

    async beginAfterRun({ root }) {
      try {
        await writeFile(join(root, 'after-run-began'), '', { flag: 'wx' });
        return true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
        return false;
      }
    },

    remove,

    async sweep(keep) {
      await mkdir(directory, { recursive: true, mode: 0o711 });
      const leftovers = (await readdir(directory)).filter((runId) => !keep.has(runId));
      const removals = await Promise.allSettled(leftovers.map(remove));
      return removals.flatMap((removal) => (removal.status === 'rejected' ? [removal.reason] : []));
    },
  };
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

function secretState({ label }: Vendor): UserError {
  return new UserError(
    'local-state-unreadable',
    `${label} keeps secrets in clear in the state that Slipway keeps for this stack, so an untrusted preview does not get it.`,
    {
      hint: 'Read the change and push it to a branch of the repository, or give the program a backend of its own.',
    },
  );
}

/** Runs that share a directory of their repository share an identity; others have one of their own. */
function identityOf(
  { run, stack, frozen }: Pick<Assignment, 'run' | 'stack' | 'frozen'>,
  vendor: Vendor,
  sharesCache: boolean,
): RunIdentity {
  const sharesState = rightsOfRun(run).sharesState && vendor.localState(frozen.settings.vendor) !== null;
  return sharesState || sharesCache ? repositoryIdentity(stack.repository.id) : { key: run.id };
}

const rightsOfRun = (run: Assignment['run']): Rights => rightsOf(trustOfRun(run));

/** What counts against the disk limits of a run: all that it can write on the disk. */
export function watchedDirectories({ root, localState, cache }: Workspace): readonly string[] {
  const others = [localState?.host, cache?.host].filter((path) => path !== undefined);
  return [root, ...others.filter((path) => !path.startsWith(`${root}${sep}`))];
}

/** What the cache held before is not the run's doing: only by what it adds it can come over its limits. */
export function diskLimits(limits: Limits, { cache }: Workspace): Limits {
  if (cache === null) return limits;
  const { bytes, entries } = cache.before;
  return {
    ...limits,
    diskBytes: limits.diskBytes + bytes,
    diskEntries: limits.diskEntries + entries,
  };
}

/** What every command of the run sees of its workspace; nothing with SANDBOX=none, which cannot mount. */
export function workspaceMounts(workspace: Workspace, sandbox: Sandbox): readonly Mount[] {
  if (sandbox.kind === 'none') return [];
  const { host, inside, localState, cache } = workspace;
  return [
    { source: host.tree, target: inside.tree, writable: true },
    { source: host.home, target: inside.home, writable: true },
    { source: host.tmp, target: inside.tmp, writable: true },
    { source: host.login, target: inside.login, writable: true },
    { source: host.git, target: inside.git, writable: false },
    ...(localState ? [{ source: localState.host, target: localState.inside, writable: true }] : []),
    ...(cache ? [{ source: cache.host, target: cache.inside, writable: true }] : []),
  ];
}
