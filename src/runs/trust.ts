import type { EnvironmentAccess, EnvironmentVariable } from '../stacks/environment.ts';
import type { Run } from './run.ts';

/** How far what a run executes is trusted, least first. What its commands get follows from this alone. */
export const trusts = ['untrusted', 'branch', 'tracked', 'apply'] as const;
export type Trust = (typeof trusts)[number];

/** What comes before the confirmation, and what changes the world. */
export type RunHalf = 'plan' | 'apply';

type TrustFacts = Pick<Run, 'type' | 'isUntrusted'>;

/** Of the commands of one half. Who brought it goes before what it is for. */
export function trustOfCommand({ type, isUntrusted }: TrustFacts, half: RunHalf): Trust {
  if (isUntrusted) return 'untrusted';
  if (type === 'PROPOSED') return 'branch';
  return half === 'apply' ? 'apply' : 'tracked';
}

/** As it is shown, and for what a run keeps from its beginning to its end. A task is there for its command. */
export const trustOfRun = (run: TrustFacts): Trust =>
  trustOfCommand(run, run.type === 'TASK' ? 'apply' : 'plan');

export interface Rights {
  /** Variables are seen if they have one of these. */
  readonly access: readonly EnvironmentAccess[];
  /** Of these variables those that are secret, too. */
  readonly hasSecrets: boolean;
  /** The repository's cache of downloads, and a state that Slipway keeps: what is there, or a copy that goes with the run. */
  readonly sharesCache: boolean;
  readonly sharesState: boolean;
  /** A state that Slipway keeps, of a tool that writes secrets into it as they are. */
  readonly seesStateInClear: boolean;
  /** `listed`: the hosts that the operator lists for untrusted runs. `all`: what any run may reach. */
  readonly network: 'listed' | 'all';
}

const rights: Record<Trust, Rights> = {
  untrusted: {
    access: ['all'],
    hasSecrets: false,
    sharesCache: false,
    sharesState: false,
    seesStateInClear: false,
    network: 'listed',
  },
  branch: {
    access: ['all'],
    hasSecrets: true,
    sharesCache: false,
    sharesState: false,
    seesStateInClear: true,
    network: 'all',
  },
  tracked: {
    access: ['all', 'tracked'],
    hasSecrets: true,
    sharesCache: true,
    sharesState: true,
    seesStateInClear: true,
    network: 'all',
  },
  apply: {
    access: ['all', 'tracked', 'apply'],
    hasSecrets: true,
    sharesCache: true,
    sharesState: true,
    seesStateInClear: true,
    network: 'all',
  },
};

export const rightsOf = (trust: Trust): Rights => rights[trust];

/** The variables that a command may see. */
export function visibleVariables(
  variables: readonly EnvironmentVariable[],
  trust: Trust,
): readonly EnvironmentVariable[] {
  const { access, hasSecrets } = rights[trust];
  return variables.filter((each) => access.includes(each.access) && (hasSecrets || !each.secret));
}
