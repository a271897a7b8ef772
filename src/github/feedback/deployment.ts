import { z } from 'zod';
import type { Clock } from '../../clock.ts';
import { nothingToChange, type Run } from '../../runs/run.ts';
import type { Reactor, RunEvent } from '../../runs/run-event.ts';
import { laneOf, type OutboxStore, type WantedItem } from './outbox-store.ts';
import { deltaSigns, wordingOf } from './wording.ts';

/** How far the run is, is read when it is sent. */
const desiredDeployment = z.object({
  /** As it was called when the deployment began: a setting that changes meanwhile does not move it. */
  environment: z.string().min(1),
  stackId: z.string(),
});
export type DesiredDeployment = z.output<typeof desiredDeployment>;
export const parseDesiredDeployment = (desired: unknown): DesiredDeployment =>
  desiredDeployment.parse(desired);

/** The states of GitHub's deployments that Slipway uses. */
export interface DeploymentStatus {
  readonly state: 'pending' | 'queued' | 'in_progress' | 'success' | 'failure' | 'inactive';
  /** At most 140 characters, for everybody who may see that there is a run. */
  readonly description: string;
}

/** Of a TRACKED run that has something to apply; null before that is known. Pure. */
export function deploymentStatusOf(run: Run): DeploymentStatus | null {
  const state = stateOf(run);
  if (state === null) return null;
  const { headline } = wordingOf(run);
  return { state, description: run.delta ? `${headline}: ${deltaSigns(run.delta)}` : headline };
}

function stateOf({ state }: Run): DeploymentStatus['state'] | null {
  switch (state) {
    case 'UNCONFIRMED':
      return 'pending';
    case 'CONFIRMED':
    case 'PREPARING_APPLY':
      return 'queued';
    case 'APPLYING':
      return 'in_progress';
    case 'FINISHED':
      return 'success';
    case 'FAILED':
      return 'failure';
    case 'STOPPED':
    case 'DISCARDED':
    case 'CANCELED':
      return 'inactive';
    default:
      return null;
  }
}

/**
 * What a change of a run's state means to its deployment: it is made once there is something to apply, and from then on
 * brought along. A run that ends before, or has nothing to apply, never has one. Pure.
 */
export function deploymentStep({ type, state, note }: Run): 'begins' | 'goes-on' | 'environment-ends' | null {
  if (type === 'DESTROY') {
    return state === 'FINISHED' && note !== nothingToChange ? 'environment-ends' : null;
  }
  if (type !== 'TRACKED') return null;
  switch (state) {
    case 'UNCONFIRMED':
    case 'APPLYING':
      return 'begins';
    case 'CONFIRMED':
    case 'FINISHED':
    case 'FAILED':
    case 'STOPPED':
    case 'DISCARDED':
    case 'CANCELED':
      return 'goes-on';
    default:
      return null;
  }
}

/** Writes down what GitHub shall show of deployments; the outbox sends it. */
export function createDeploymentReactor(parts: {
  readonly store: Pick<OutboxStore, 'want' | 'touch'>;
  readonly clock: Clock;
  /** Called after the commit. */
  readonly onWanted: () => void;
}): Reactor {
  const { store, clock, onWanted } = parts;
  return async (tx, event) => {
    const step = deploymentStep(event.run);
    if (step === null) return;
    const isKnown = await store.touch(tx, itemId(event.run.id), clock.nowMs());
    if (!isKnown) {
      const item = step === 'goes-on' ? null : itemOf(event);
      if (item === null) return;
      await store.want(tx, item, clock.nowMs());
    }
    tx.afterCommit(onWanted);
  };
}

const itemId = (runId: string): string => `deployment:${runId}`;

/** Null for a stack that wants no deployments. */
function itemOf({ run, stack }: RunEvent): WantedItem | null {
  const environment = stack.settings.deploymentEnvironment ?? stack.id;
  if (environment === '') return null;
  const repositoryId = stack.repository.id;
  return {
    id: itemId(run.id),
    kind: 'deployment',
    runId: run.id,
    repositoryId,
    lane: laneOf(repositoryId, 'deployment'),
    desired: { environment, stackId: stack.id } satisfies DesiredDeployment,
  };
}
