import type { z } from 'zod';
import { changesOf, type ResourceChange } from '../../runs/plan/plan-changes.ts';
import type { Run } from '../../runs/run.ts';
import type { Commit } from '../../stacks/repository.ts';
import { nanosecondsOf } from './moment.ts';
import type * as schemas from './schemas/run.ts';

/** A run as most kinds see it, with what the run itself does not know. */
export interface RunFacts {
  readonly run: Run;
  /** Sorted. */
  readonly flags: readonly string[];
  /** Of its plan, in the shape of the specification (§2.3), and the name of the tool; left out where that is not read. */
  readonly plan?: { readonly vendor: string; readonly steps: readonly unknown[] };
}

export function runInput({ run, flags, plan }: RunFacts): z.infer<typeof schemas.run> {
  const changes = plan ? { changes: [...changesIn(plan)] } : {};
  return { ...briefRunInput(run), flags: [...flags], ...changes };
}

export function briefRunInput(run: Run): z.infer<typeof schemas.briefRun> {
  const { id, type, state, branch, delta, command } = run;
  return {
    ...{ id, type, state, state_version: run.stateVersion, branch },
    commit: commitInput(run),
    created_at: nanosecondsOf(run.createdAtMs),
    triggered_by: run.triggeredBy,
    creator_session: sessionInput(run.startedBy, run.triggeredBy),
    untrusted: run.isUntrusted ?? false,
    drift_detection: false,
    based_on_local_workspace: false,
    ...(command === undefined ? {} : { command }),
    ...(delta === undefined ? {} : { delta: { ...delta } }),
  };
}

export function commitInput({
  commit,
  branch,
  pullRequest,
}: Pick<Run, 'commit' | 'branch' | 'pullRequest'>): z.infer<typeof schemas.commit> {
  return { ...bareCommit(commit), branch, pull_request_id: pullRequest?.number ?? null };
}

export function bareCommit({ authorLogin, authorName, hash, message, timestamp, url }: Commit) {
  const created_at = nanosecondsOf(timestamp * 1000);
  return { author: authorLogin.toLowerCase(), author_name: authorName, created_at, hash, message, url };
}

const ofPerson = 'person:';

/** `key` as access/actor.ts makes it: only a person's is shown as a login, so no token can pass for a person. */
export function sessionInput(key: string, name: string): z.infer<typeof schemas.session> {
  const isPerson = key.startsWith(ofPerson);
  return { login: isPerson ? key.slice(ofPerson.length) : key, name, machine: !isPerson };
}

type Change = NonNullable<z.infer<typeof schemas.run>['changes']>[number];

const actions: Readonly<Record<ResourceChange['op'], readonly Change['action'][]>> = {
  create: ['added'],
  update: ['changed'],
  replace: ['deleted', 'added'],
  delete: ['deleted'],
  move: ['changed'],
  outputs: ['changed'],
};

function* changesIn({ vendor, steps }: NonNullable<RunFacts['plan']>): Generator<Change> {
  for (const { op, urn, type, name } of changesOf(steps)) {
    const what = op === 'outputs' ? 'output' : 'resource';
    const entity = { address: urn, name, type: what, entity_type: type, entity_vendor: vendor } as const;
    for (const action of actions[op]) yield { action, phase: 'plan', entity };
  }
}
