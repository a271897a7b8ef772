import { createRoute, z } from '@hono/zod-openapi';
import type { Actor } from '../../access/actor.ts';
import type { Gates } from '../../runs/approvals/gates.ts';
import type { Run } from '../../runs/run.ts';
import type { RunCauseStore } from '../../runs/run-causes.ts';
import type { RunFilter, RunList } from '../../runs/run-list.ts';
import type { RunStore } from '../../runs/run-store.ts';
import type { StackList } from '../../runs/stack-list.ts';
import type { StackStore } from '../../stacks/stack-store.ts';
import { type Api, newApi } from '../api.ts';
import { decodeCursor, encodeCursor, idPattern, pageOf, pageQuery } from '../page.ts';
import { type Guard, onlyAccountOf } from './guard.ts';
import { json, needs, problems } from './route-parts.ts';
import { type RunObject, runObject, runSchema, runState, runTypes } from './run-object.ts';
import { maxAsked, placeKey, type StackRoles, stackRoles } from './stack-roles.ts';

export interface RunListRouteParts {
  readonly guard: Guard;
  readonly runs: RunStore;
  readonly gates: Gates;
  readonly causes: Pick<RunCauseStore, 'find'>;
  readonly runList: RunList;
  readonly stackList: StackList;
  readonly stackStore: StackStore;
}

const time = z.coerce.number().int().min(0).max(99_999_999_999).optional();

/** Of lists of runs. */
export const runFilterQuery = pageQuery.extend({
  state: runState.optional(),
  type: z.enum(runTypes).optional(),
  branch: z.string().min(1).max(300).optional(),
  since: time.openapi({ description: 'Made at this time (Unix seconds) or later.' }),
  before: time.openapi({ description: 'Made earlier.' }),
});

const listQuery = runFilterQuery.extend({
  account: z.string().min(1).max(200).optional(),
  stack: z.string().min(1).max(200).optional().openapi({ description: 'Id of the stack.' }),
});

const listRoute = createRoute({
  method: 'get',
  path: '/api/v1/runs',
  operationId: 'listRuns',
  tags: ['runs'],
  summary: 'Runs of all stacks that the token may read, newest first',
  ...needs('any'),
  request: { query: listQuery },
  responses: { 200: json(pageOf(runSchema), 'A page of runs.'), ...problems },
});

/** Where some of what was read is not for the caller. */
const maxReads = 3;

export function runListRoutes(parts: RunListRouteParts): Api {
  const { guard, runList } = parts;
  const api = newApi();

  api.openapi(listRoute, async (c) => {
    const query = c.req.valid('query');
    const actor = c.var.actor;
    const objects = runObjects(parts);
    const stackKeys = await readableStacks(parts, actor, query);
    const filter = { ...runFilterOf(query), ...(stackKeys === null ? {} : { stackKeys }) };
    const roles = stackRoles(guard, actor);

    const items: RunObject[] = [];
    let position = decodeCursor(query.cursor, idPattern);
    for (let reads = 0; reads < maxReads; reads += 1) {
      const limit = query.limit - items.length;
      const { runs, next } = await runList.page(filter, { before: position, limit });
      const seen = await objects.readable(runs, roles);
      items.push(...seen.items);
      position = seen.brokeOffAt ?? next;
      const isLookedFor = runs.length === limit && seen.brokeOffAt === null;
      if (position === null || !isLookedFor || items.length === query.limit) break;
    }
    return c.json({ items, nextCursor: position && encodeCursor(position) }, 200);
  });

  return api;
}

export function runFilterOf({
  state,
  type,
  branch,
  since,
  before,
}: Omit<z.output<typeof runFilterQuery>, 'limit'>): RunFilter {
  return {
    ...(state === undefined ? {} : { states: [state] }),
    ...(type === undefined ? {} : { types: [type] }),
    ...(branch === undefined ? {} : { branch }),
    ...(since === undefined ? {} : { sinceMs: since * 1000 }),
    ...(before === undefined ? {} : { beforeMs: before * 1000 }),
  };
}

/**
 * The keys of the stacks whose runs are looked at; null: all. Where GitHub would be asked about too many repositories
 * nothing is judged here, but each run when it is shown.
 */
async function readableStacks(
  { guard, stackList }: RunListRouteParts,
  actor: Actor,
  {
    account = onlyAccountOf(actor) ?? undefined,
    stack,
  }: { account?: string | undefined; stack?: string | undefined },
): Promise<readonly string[] | null> {
  if (!guard.isAskedLive(actor) && account === undefined && stack === undefined) return null;
  const places = await stackList.places({
    ...(account === undefined ? {} : { account }),
    ...(stack === undefined ? {} : { id: stack }),
  });
  const tooMany = guard.isAskedLive(actor) && new Set(places.map(placeKey)).size > maxAsked;
  if (tooMany) return places.map(({ key }) => key);
  const roles = stackRoles(guard, actor);
  const keys: string[] = [];
  for (const [index, place] of places.entries()) {
    if ((await roles.roleOn(place, places.slice(index + 1))) !== null) keys.push(place.key);
  }
  return keys;
}

/** Runs as objects of the API. What several of them have in common is read once. */
function runObjects({
  runs,
  gates,
  causes,
  stackStore,
}: Pick<RunListRouteParts, 'runs' | 'gates' | 'causes' | 'stackStore'>) {
  const activeRun = remembering((key: string) => runs.activeRun(key));
  const countQueued = remembering((key: string) => runs.countQueued(key));
  const firstQueued = remembering((key: string) => runs.firstQueued(key, null));
  // Without a lock the first of all is asked for; behind a lock each stack has a holder of its own.
  const line = {
    ...{ activeRun, countQueued },
    firstQueued: (key: string, startedBy: string | null) =>
      startedBy === null ? firstQueued(key) : runs.firstQueued(key, startedBy),
  };
  const waiting = { runs: line, gates, causes };

  return {
    /** `brokeOffAt`: the last run that was judged, when GitHub is asked no more. */
    async readable(page: readonly Run[], roles: StackRoles) {
      const stacks = await stackStore.findAll([...new Set(page.map(({ stackKey }) => stackKey))]);
      const byKey = new Map(stacks.map((stack) => [stack.key, stack]));
      const found = page.map((run) => ({ run, stack: byKey.get(run.stackKey) }));
      const items: RunObject[] = [];
      let last: string | null = null;
      for (const [index, { run, stack }] of found.entries()) {
        if (roles.isSpent()) return { items, brokeOffAt: last };
        const following = found.slice(index + 1).flatMap((each) => each.stack ?? []);
        last = run.id;
        if (stack && (await roles.roleOn(stack, following)) !== null)
          items.push(await runObject(run, stack, waiting));
      }
      return { items, brokeOffAt: null };
    },
  };
}

function remembering<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (key) => {
    const found = known.get(key) ?? read(key);
    known.set(key, found);
    return found;
  };
}
