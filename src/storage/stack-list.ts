import { type RawBuilder, sql } from 'kysely';
import type { Place } from '../access/permissions.ts';
import { type RunState, runStates } from '../runs/run.ts';
import type { ListedStack, StackFilter, StackList, StackSort } from '../runs/stack-list.ts';
import { bucketOf, buckets } from '../runs/stack-summary.ts';
import type { Database } from './database.ts';
import type { StackSummaryRow } from './schema.ts';
import { selectStacks, toStack } from './stack-rows.ts';
import { toSummary } from './stack-summary.ts';

const states = [...runStates, 'NONE'] as const;
const name = sql<string>`json_extract(stack.settings, '$.name')`;
const state = sql<RunState | 'NONE'>`coalesce(summary.state, 'NONE')`;
const rank = sql<number>`case ${state} ${sql.join(
  states.map((each) => sql`when ${sql.lit(each)} then ${sql.lit(buckets.indexOf(bucketOf(each)))}`),
  sql` `,
)} end`;
const newestFirst = sql<number>`-coalesce(summary.since_ms, 0)`;
const key = sql<string>`stack.key`;

/** Ascending, the key last: no two stacks have the same place. */
const orders: Readonly<Record<StackSort, readonly RawBuilder<unknown>[]>> = {
  age: [key],
  // Cut, as it stands in cursors.
  name: [sql`substr(lower(${name}), 1, 40)`, key],
  changed: [newestFirst, key],
  attention: [rank, newestFirst, key],
};

/** A thousand stacks are looked through in a few milliseconds; no run is. */
export function createStackList(database: Database): StackList {
  /** With the account: a repository may have moved to another since its stacks were made. */
  const places = () =>
    database.read
      .selectFrom('stack')
      .innerJoin('account', 'account.id', 'stack.account_id')
      .innerJoin('repository', 'repository.id', 'stack.repository_id')
      .leftJoin('stack_summary as summary', 'summary.stack_key', 'stack.key');
  const placeColumns = [
    'account.login',
    'stack.id',
    'repository.id as repository_id',
    'repository.full_name',
    'repository.installation_id',
    'repository.is_private',
  ] as const;

  return {
    async page(filter, { sort, after, limit }) {
      const order = orders[sort];
      let query = selectStacks(database.read)
        .leftJoin('stack_summary as summary', 'summary.stack_key', 'stack.key')
        .selectAll('summary')
        .select(sql<string>`json_array(${sql.join(order)})`.as('position'))
        .where(passes(filter))
        .limit(limit);
      for (const by of order) query = query.orderBy(by);
      if (after !== null) {
        const from = order.map((_, n) => sql`json_extract(${after}, ${sql.lit(`$[${n}]`)})`);
        query = query.where(sql<boolean>`(${sql.join(order)}) > (${sql.join(from)})`);
      }
      return (await query.execute()).map(toListed);
    },

    async counted(filter) {
      const rows = await places()
        .select(placeColumns)
        .select([state.as('state'), passes(filter).as('passes')])
        .select(sql<string>`json_extract(stack.settings, '$.labels')`.as('labels'))
        .where(passes(filter.account === undefined ? {} : { account: filter.account }))
        .orderBy('stack.key')
        .execute();
      return rows.map((row) => ({
        ...toPlace(row),
        state: row.passes ? row.state : null,
        labels: JSON.parse(row.labels) as string[],
      }));
    },

    async places({ account, id }) {
      let query = places().select(placeColumns).select('stack.key');
      query = query.where(passes(account === undefined ? {} : { account }));
      if (id !== undefined) query = query.where('stack.id', '=', id);
      return (await query.orderBy('stack.key').execute()).map((row) => ({ ...toPlace(row), key: row.key }));
    },
  };
}

function passes({ account, bucket, label, repository, text }: StackFilter): RawBuilder<boolean> {
  const parts: RawBuilder<boolean>[] = [sql`true`];
  if (account !== undefined) parts.push(sql`lower(account.login) = lower(${account})`);
  if (repository !== undefined) parts.push(sql`lower(repository.full_name) = lower(${repository})`);
  if (bucket !== undefined) {
    const wanted = states.filter((each) => bucketOf(each) === bucket);
    parts.push(sql`${state} in (${sql.join(wanted)})`);
  }
  if (label !== undefined) {
    parts.push(sql`${label} in (select value from json_each(stack.settings, '$.labels'))`);
  }
  if (text !== undefined) {
    const searched = [
      ...[name, sql`stack.id`, sql`repository.full_name`],
      ...[sql`json_extract(stack.settings, '$.projectRoot')`, sql`json_extract(stack.settings, '$.labels')`],
    ];
    parts.push(sql`instr(lower(concat_ws(char(10), ${sql.join(searched)})), lower(${text})) > 0`);
  }
  return sql<boolean>`(${sql.join(parts, sql` and `)})`;
}

type ListedRow = Parameters<typeof toStack>[0] & { readonly position: string } & {
  readonly [Column in keyof StackSummaryRow]: StackSummaryRow[Column] | null;
};

function toListed(row: ListedRow): ListedStack {
  // Without a summary the columns of the join are null, this one too.
  const summary = row.stack_key === null ? null : toSummary(row as StackSummaryRow);
  return { stack: toStack(row), summary, position: row.position };
}

function toPlace(row: {
  readonly login: string;
  readonly id: string;
  readonly repository_id: number;
  readonly full_name: string;
  readonly installation_id: number;
  readonly is_private: 0 | 1;
}): Place {
  return {
    account: row.login,
    id: row.id,
    repository: {
      id: row.repository_id,
      fullName: row.full_name,
      installationId: row.installation_id,
      isPrivate: row.is_private === 1,
    },
  };
}
