import { type RawBuilder, sql } from 'kysely';
import { firstIdAt } from '../ids.ts';
import { isTerminal, type RunState } from '../runs/run.ts';
import type { RunFilter, RunList } from '../runs/run-list.ts';
import type { Database } from './database.ts';
import { type Found, newestFirst } from './newest-first.ts';
import { toRun } from './run-rows.ts';

/** Runs looked at for one page, over all indexes that it takes. */
const maxLooks = 2000;
/** Of more stacks each by itself would be more work than going through all runs. */
const maxStacksByThemselves = 32;

type Condition = RawBuilder<boolean>;

/** A walk along one index: it starts at the newest run of what `along` says, and `rest` says which of them fit. */
export interface Walk {
  readonly index: string;
  readonly along: Condition;
  readonly rest: readonly Condition[];
}

export function createRunList(database: Database, looksOfPage = maxLooks): RunList {
  async function ids(query: RawBuilder<{ id: string }>): Promise<string[]> {
    return (await query.execute(database.read)).rows.map(({ id }) => id);
  }

  async function follow(walk: Walk, limit: number, looks: number): Promise<Found> {
    const found = await ids(fitting(walk, limit, looks));
    if (found.length === limit) return { ids: found, lookedTo: found.at(-1) ?? null };
    if (walk.rest.length === 0) return { ids: found, lookedTo: null };
    return { ids: found, lookedTo: (await ids(lookedTo(walk, looks)))[0] ?? null };
  }

  return {
    async page(filter, { before, limit }) {
      const walks = walksFor(filter, before);
      const looks = Math.max(limit + 1, Math.floor(looksOfPage / Math.max(walks.length, 1)));
      const found: Found[] = [];
      for (const walk of walks) found.push(await follow(walk, limit + 1, looks));
      const page = newestFirst(found, limit);
      if (page.ids.length === 0) return { runs: [], next: page.next };
      const query = database.read.selectFrom('run').selectAll().where('id', 'in', page.ids);
      return { runs: (await query.orderBy('id', 'desc').execute()).map(toRun), next: page.next };
    },
  };
}

/** The walks that together see every run that fits. Each begins with what an index can say, and ends with the id. */
export function walksFor(filter: RunFilter, before: string | null): readonly Walk[] {
  const { stackKeys, states, types, branch } = filter;
  const bounds = boundsOf(filter, before);
  const walk = (index: string, along: readonly Condition[], rest: readonly (Condition | null)[]): Walk => ({
    index,
    along: all([...along, ...bounds]),
    rest: rest.filter((each) => each !== null),
  });
  const inStates = states ? sql<boolean>`state in (${sql.join(states)})` : null;
  const ofTypes = types ? sql<boolean>`type in (${sql.join(types)})` : null;
  const ofBranch = branch === undefined ? null : sql<boolean>`branch = ${branch}`;

  if (stackKeys && stackKeys.length <= maxStacksByThemselves) {
    return stackKeys.map((key) => {
      const ofStack = sql<boolean>`stack_key = ${key}`;
      if (ofBranch) return walk('run_of_branch', [ofStack, ofBranch], [inStates, ofTypes]);
      if (types?.length === 1 && ofTypes)
        return walk('run_of_type', [ofStack, sql`type = ${types[0]}`], [inStates]);
      return walk('run_of_stack', [ofStack], [inStates, ofTypes]);
    });
  }
  const ofStacks = stackKeys
    ? sql<boolean>`stack_key in (select value from json_each(${JSON.stringify(stackKeys)}))`
    : null;
  if (ofBranch) return [walk('run_in_branch', [ofBranch], [ofStacks, inStates, ofTypes])];
  if (types?.every((type) => type === 'TASK' || type === 'DESTROY')) {
    return types.map((type) => walk('run_by_hand', [byHand, sql`type = ${type}`], [ofStacks, inStates]));
  }
  if (states) {
    return states.map((state) => {
      const { index, condition } = isTerminal(state) ? over : unfinished;
      return walk(index, [condition, isState(state)], [ofStacks, ofTypes]);
    });
  }
  return [walk('sqlite_autoindex_run_1', [], [ofStacks, ofTypes])];
}

// In the very words of the partial indexes.
const unfinished = {
  index: 'run_in_state',
  condition: sql<boolean>`state not in ('FINISHED', 'FAILED', 'STOPPED', 'DISCARDED', 'CANCELED')`,
};
const over = {
  index: 'run_over',
  condition: sql<boolean>`state in ('FINISHED', 'FAILED', 'STOPPED', 'DISCARDED', 'CANCELED')`,
};
const byHand = sql<boolean>`type in ('TASK', 'DESTROY')`;
const isState = (state: RunState): Condition => sql`state = ${state}`;

/** Ids say when a run was made. */
function boundsOf({ sinceMs, beforeMs }: RunFilter, before: string | null): readonly Condition[] {
  const ends = [before, beforeMs === undefined ? null : firstIdAt(beforeMs)].filter((id) => id !== null);
  const end = ends.sort()[0];
  return [
    ...(end === undefined ? [] : [sql<boolean>`id < ${end}`]),
    ...(sinceMs === undefined ? [] : [sql<boolean>`id >= ${firstIdAt(sinceMs)}`]),
  ];
}

const all = (conditions: readonly Condition[]): Condition =>
  conditions.length === 0 ? sql`true` : sql`${sql.join(conditions, sql` and `)}`;

/** The newest that fit, `limit` at most, of the first `looks` runs. A subquery with a limit keeps its order in SQLite. */
export function fitting({ index, along, rest }: Walk, limit: number, looks: number) {
  if (rest.length === 0) {
    return sql<{ id: string }>`
      select id from run indexed by ${sql.raw(index)} where ${along} order by id desc limit ${limit}`;
  }
  return sql<{ id: string }>`
    select id from (
      select id, stack_key, type, state from run indexed by ${sql.raw(index)}
      where ${along} order by id desc limit ${looks}
    ) where ${all(rest)} limit ${limit}`;
}

/** The last run that `fitting` may have looked at; none when there are fewer. */
export function lookedTo({ index, along }: Walk, looks: number) {
  return sql<{ id: string }>`
    select id from run indexed by ${sql.raw(index)} where ${along} order by id desc limit 1 offset ${looks - 1}`;
}
