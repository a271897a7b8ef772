import type { Away } from './away.ts';
import type { Repository } from './repository.ts';
import type { VendorSettings } from './vendor-settings.ts';

/**
 * A stack: which part of which repository is run with which tool, and how. It refuses to know any tool
 * (`vendor` is opaque here) and any run.
 */
export interface Stack {
  /** Internal identifier; never shown. People know a stack as account login + `id`. */
  readonly key: string;
  readonly account: string;
  /** Slug of the first name, unique in the account, fixed for life: URLs and checks carry it. */
  readonly id: string;
  readonly repository: Repository;
  readonly settings: StackSettings;
  readonly lock: StackLock | null;
  /** `file`: the repository file decides its settings. A file that the App can no longer read decides nothing. */
  readonly managedBy: ManagedBy | null;
  readonly createdAtMs: number;
  /** Left out: its repository is within reach. */
  readonly away?: Away;
}

/** Who decides instead of API and command line. */
export type ManagedBy = 'file';

export interface StackSettings {
  readonly name: string;
  readonly description: string;
  readonly labels: readonly string[];
  /** The tracked branch. */
  readonly branch: string;
  /** Path of segments from the repository's root, "" for the root itself. */
  readonly projectRoot: string;
  readonly additionalProjectGlobs: readonly string[];
  readonly autodeploy: boolean;
  readonly planBinding: boolean;
  readonly promotion: boolean;
  readonly publicDetails: boolean;
  /** Pull requests of forks are previewed, without secrets. */
  readonly allowForks: boolean;
  /** Logins of bots whose changes are previewed with secrets, as those of people are. */
  readonly trustedBots: readonly string[];
  readonly checks: Checks;
  /** A commit that does not concern the stack gets a neutral check: a required one would be waited for for ever. */
  readonly unaffectedChecks: boolean;
  /** GitHub's environment of the deployments of TRACKED runs. Null: named like the stack's id; "": none. */
  readonly deploymentEnvironment: string | null;
  readonly vendor: VendorSettings;
  readonly hooks: Hooks;
}

export const checkKinds = ['each', 'aggregate'] as const;

/** `each`: a check for each run; `aggregate`: one for a commit and all stacks of the repository that chose it. */
export type Checks = (typeof checkKinds)[number];

export const hookNames = [
  'beforeInit',
  'afterInit',
  'beforePlan',
  'afterPlan',
  'beforeApply',
  'afterApply',
  'beforeDestroy',
  'afterDestroy',
  'beforePerform',
  'afterPerform',
  'afterRun',
] as const;

export type HookName = (typeof hookNames)[number];
/** Each entry is a command for `bash -c`. */
export type Hooks = Readonly<Record<HookName, readonly string[]>>;

export const noHooks = Object.fromEntries(hookNames.map((name) => [name, []])) as unknown as Hooks;

export interface StackLock {
  /** As people read it: a login, a token's name, "policy x", or "slipway" for a lock set after a lost apply. */
  readonly holder: string;
  /** Who that is beyond doubt (access/actor.ts `actorKey`, policy-lock.ts); "" for the server. */
  readonly holderKey: string;
  /** `system`: nobody's own, whatever they are called. */
  readonly kind: 'person' | 'system';
  readonly reason: string;
  /** The run that made the server lock the stack. */
  readonly run: string | null;
  readonly sinceMs: number;
  /** The lock that the server's own one covers: it is there again once that is taken away. */
  readonly covers?: StackLock;
}

/** "Network Prod" → "network-prod". Empty when nothing of the name can stand in a URL. */
export function slugOf(name: string): string {
  return (
    name
      .normalize('NFKD')
      // An accent is a character of its own now; left in, it would cut the word in two.
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 64)
      .replace(/-+$/, '')
  );
}

/** The vendor's name is the one key of its settings. */
export function vendorName(settings: VendorSettings): string {
  return Object.keys(settings)[0] ?? '';
}

/**
 * On a public repository everybody reads checks and comments: counts, states and links only, unless the stack says
 * otherwise.
 */
export const showsDetails = ({ repository, settings }: Pick<Stack, 'repository' | 'settings'>): boolean =>
  repository.isPrivate || settings.publicDetails;

/** Whether the lock keeps out who has that key. The server's own lock keeps everybody out. */
export function isLockedFor(lock: StackLock | null, actorKey: string): lock is StackLock {
  return lock !== null && (lock.kind === 'system' || lock.holderKey !== actorKey);
}

/** Set because the real state is in doubt: it covers all other locks. */
export const isServersOwn = (lock: StackLock): boolean => lock.holderKey === '';
