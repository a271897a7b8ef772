import { z } from 'zod';
import type { RunVerb } from '../../../../runs/explaining/verbs.ts';
import { explanationSchema } from '../../../api/run-mending.ts';
import { type RunObject, runSchema, runState } from '../../../api/run-object.ts';
import { stackSchema } from '../../../api/stack-object.ts';
import type { View } from '../../page-routes.ts';
import { stackPath } from '../../stack-path.ts';

const stateChange = z.object({
  state: runState,
  stateVersion: z.number(),
  timestamp: z.number(),
  actor: z.string(),
  note: z.string().optional(),
});
export type StateChange = z.output<typeof stateChange>;

/** What every page of a run knows. */
export interface RunFacts {
  readonly run: RunObject;
  readonly stack: z.output<typeof stackSchema>;
  /** Oldest first. */
  readonly states: readonly StateChange[];
  readonly explanation: z.output<typeof explanationSchema>;
  /** Of the run in the API; the paths of its pages are the same without `/api/v1`. */
  readonly apiPath: string;
  /** What somebody wanted of the run just now and was refused. */
  readonly refused?: RefusedCommand;
}

/** Nothing typed is lost by a refusal. */
export interface RefusedCommand {
  readonly verb: RunVerb;
  readonly note: string;
  readonly confirmation: string;
  /** Beside the field for the stack's name. */
  readonly wrongConfirmation?: string;
  /** The version that the person looked at, if the run has changed since. */
  readonly lookedAt?: number;
}

/** Throws `ApiRefusal`. */
export async function readRun({ api, param }: View): Promise<RunFacts> {
  const apiPath = `/api/v1/runs/${encodeURIComponent(param('run'))}`;
  const run = await api.get(apiPath, runSchema);
  const [stack, states, explanation] = await Promise.all([
    api.get(`/api/v1${stackPath(run.stack.account, run.stack.id)}`, stackSchema),
    api.get(`${apiPath}/states`, z.object({ items: z.array(stateChange) })),
    api.get(`${apiPath}/explanation`, explanationSchema),
  ]);
  return { run, stack, states: states.items, explanation, apiPath };
}
