import type { z } from 'zod';
import type { RunEvent } from '../../runs/run-event.ts';
import type { StoredEvent } from '../../runs/run-store.ts';
import { nanosecondsOf } from './moment.ts';
import { type RunFacts, runInput } from './run.ts';
import type * as schemas from './schemas/notification.ts';
import { stackInput } from './stack.ts';

type Input = z.infer<typeof schemas.notificationInput>;

interface Surroundings {
  /** Login of the account. */
  readonly account: string;
  readonly endpoints: readonly { readonly id: string; readonly stackId: string }[];
  readonly nowMs: number;
}

export interface RunUpdatedFacts extends Surroundings, Omit<RunFacts, 'run'> {
  readonly event: RunEvent;
  /** Of the run up to this event, in their order. */
  readonly history: readonly Pick<StoredEvent, 'state' | 'timestampMs'>[];
  /** Page of the run. */
  readonly url: string;
}

/** What notification policies judge of a change of a run's state. */
export function runUpdatedInput(facts: RunUpdatedFacts): Input {
  const { run, stack, actor, note } = facts.event;
  return {
    run_updated: {
      ...{ state: run.state, username: actor, note },
      run: runInput({ ...facts, run }),
      stack: stackInput(stack),
      timing: timingOf(facts.history),
      urls: { run: facts.url },
    },
    ...surroundings(facts),
  };
}

function timingOf(history: RunUpdatedFacts['history']) {
  return history.slice(0, -1).map(({ state, timestampMs }, index) => {
    const leftAtMs = history[index + 1]?.timestampMs ?? timestampMs;
    return { state, duration: nanosecondsOf(leftAtMs - timestampMs) };
  });
}

function surroundings({ account, endpoints, nowMs }: Surroundings) {
  return {
    account: { name: account },
    webhook_endpoints: endpoints.map(({ id, stackId }) => ({ id, stack_id: stackId })),
    request: { timestamp_ns: nanosecondsOf(nowMs) },
  };
}
