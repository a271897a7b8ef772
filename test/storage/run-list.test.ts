import { type CompiledQuery, sql } from 'kysely';
import { expect, test } from 'vitest';
import { createIds } from '../../src/ids.ts';
import { type Run, runStates } from '../../src/runs/run.ts';
import type { RunFilter } from '../../src/runs/run-list.ts';
import { createRunList, fitting, lookedTo, walksFor } from '../../src/storage/run-list.ts';
import { createRunStore } from '../../src/storage/run-store.ts';
import { createSecretBox } from '../../src/storage/secret-box.ts';
import { aCommit } from '../support/builders.ts';
import { fc } from '../support/fast-check.ts';
import { manualClock } from '../support/manual-clock.ts';
import { openStores } from '../webhooks/stores.ts';

const types = ['TRACKED', 'PROPOSED', 'TASK', 'DESTROY'] as const;
const firstMs = 1_795_000_000_000;
const stepMs = 1000;

/** Runs of several stacks, one each second, of every state, type and branch. */
async function opened(stacks: number, count: number) {
  const stores = await openStores();
  const { database } = stores;
  const keys: string[] = [];
  for (let n = 0; n < stacks; n += 1) keys.push(await stores.addStack());
  const clock = manualClock(firstMs);
  const newId = createIds(clock);
  await database.write(async (tx) => {
    const insert = database.rawInside(tx).prepare(
      `insert into run (id, stack_key, type, state, state_version, branch, commit_hash, "commit", created_at_ms,
         triggered_by, started_by, dedupe_key) values (?, ?, ?, ?, 1, ?, 'c', ?, ?, '', '', ?)`,
    );
    for (let n = 0; n < count; n += 1) {
      const [id, nowMs, type] = [newId(), clock.nowMs(), types[(n * 7) % types.length] ?? 'TRACKED'];
      // Blocking runs under way are one of a stack at most: here none.
      const over = runStates.slice(-5);
      const state = type === 'PROPOSED' ? runStates[(n * 5) % runStates.length] : over[n % over.length];
      const branch = n % 3 === 0 ? 'main' : `topic-${n % 4}`;
      insert.run(id, keys[(n * n) % stacks], type, state, branch, JSON.stringify(aCommit()), nowMs, id);
      clock.advance(stepMs);
    }
  });
  const runs = createRunStore(database, createSecretBox(Buffer.alloc(32, 7)));
  const all: Run[] = [];
  for (const { id } of await database.read.selectFrom('run').select('id').orderBy('id', 'desc').execute()) {
    const run = await runs.find(id);
    if (run) all.push(run);
  }
  return { ...stores, keys, all, [Symbol.asyncDispose]: () => stores[Symbol.asyncDispose]() };
}

const fits = (run: Run, filter: RunFilter): boolean =>
  (filter.stackKeys?.includes(run.stackKey) ?? true) &&
  (filter.states?.includes(run.state) ?? true) &&
  (filter.types?.includes(run.type) ?? true) &&
  (filter.branch === undefined || filter.branch === run.branch) &&
  (filter.sinceMs === undefined || run.createdAtMs >= filter.sinceMs) &&
  (filter.beforeMs === undefined || run.createdAtMs < filter.beforeMs);

const filterOf = (keys: readonly string[], count: number): fc.Arbitrary<RunFilter> => {
  const time = fc.integer({ min: -1, max: count + 1 }).map((n) => firstMs + n * stepMs);
  return fc.record(
    {
      stackKeys: fc.subarray([...keys]),
      states: fc.subarray([...runStates], { minLength: 1, maxLength: 3 }),
      types: fc.subarray([...types], { minLength: 1, maxLength: 2 }),
      branch: fc.constantFrom('main', 'topic-1', 'none'),
      sinceMs: time,
      beforeMs: time,
    },
    { requiredKeys: [] },
  );
};

test.each([
  ['few stacks', 4],
  ['many stacks', 40],
])('of %s, pages are what fits the filter, newest first, however little is looked at', async (_, stacks) => {
  await using world = await opened(stacks, 300);

  await fc.assert(
    fc.asyncProperty(
      filterOf(world.keys, 300),
      fc.integer({ min: 1, max: 40 }),
      fc.constantFrom(1, 30, 100_000),
      async (filter, limit, looks) => {
        const list = createRunList(world.database, looks);
        const got: Run[] = [];
        let before: string | null = null;
        for (let pages = 0; pages < 1000; pages += 1) {
          const page = await list.page(filter, { before, limit });
          expect(page.runs.length).toBeLessThanOrEqual(limit);
          got.push(...page.runs);
          before = page.next;
          if (before === null) break;
        }
        expect(got).toEqual(world.all.filter((run) => fits(run, filter)));
      },
    ),
    { numRuns: 60 },
  );
});

const many = Array.from({ length: 33 }, (_, n) => `key-${n}`);
const filters: readonly (readonly [string, RunFilter])[] = [
  ['all runs', {}],
  ['a time', { sinceMs: 1, beforeMs: firstMs }],
  ['a state that ends', { states: ['FAILED'] }],
  ['a state that does not', { states: ['UNCONFIRMED'] }],
  ['frequent types', { types: ['TRACKED'] }],
  ['rare types', { types: ['TASK', 'DESTROY'], states: ['FAILED'] }],
  ['a branch', { branch: 'main', states: ['FAILED'] }],
  ['one stack', { stackKeys: ['key'] }],
  ['one stack and type', { stackKeys: ['key'], types: ['TASK'], states: ['FAILED'] }],
  ['one stack and branch', { stackKeys: ['key'], branch: 'main' }],
  ['many stacks', { stackKeys: many }],
  ['many stacks and a state', { stackKeys: many, states: ['FAILED'] }],
];

test.each(filters)('for %s SQLite walks along an index and sorts nothing', async (_, filter) => {
  await using world = await opened(1, 1);
  const { read } = world.database;
  const explained = async (query: { compile(db: typeof read): CompiledQuery }) => {
    const { sql: text, parameters } = query.compile(read);
    const plan = sql<{ detail: string }>`explain query plan ${sql.raw(text.replaceAll('?', 'null'))}`;
    expect(parameters.length).toBeGreaterThan(0);
    return (await plan.execute(read)).rows.map(({ detail }) => detail);
  };

  for (const walk of walksFor(filter, 'before')) {
    const details = [
      ...(await explained(fitting(walk, 51, 2000))),
      ...(await explained(lookedTo(walk, 2000))),
    ];
    expect(details.filter((detail) => detail.startsWith('SCAN run'))).toEqual([]);
    expect(details.filter((detail) => detail.includes('TEMP B-TREE'))).toEqual([]);
    expect(details.filter((detail) => detail.startsWith('SEARCH run')).length).toBeGreaterThan(0);
  }
});
