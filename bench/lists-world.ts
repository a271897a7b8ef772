/** A data directory with many stacks and very many runs, written straight into the tables. */
import { createHash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { createIds } from '../src/ids.ts';
import { openStores } from '../src/storage/stores.ts';
import { aCommit, stackSettings } from '../test/support/builders.ts';

export interface Size {
  readonly stacks: number;
  readonly runs: number;
}

/** Of the session that is there: an administrator of the instance, named in ADMINS. */
export const admin = { login: 'ada', token: 'session-of-the-benchmark' };

const accounts = ['acme', 'globex'];
const repositories = 50;
const topics = 5000;
const types = ['PROPOSED', 'TRACKED', 'PROPOSED', 'TRACKED', 'PROPOSED'] as const;
const ends = ['FINISHED', 'FINISHED', 'FINISHED', 'FAILED', 'FINISHED', 'FINISHED', 'CANCELED'] as const;
const spanMs = 3 * 365 * 24 * 60 * 60 * 1000;
const runsOfTransaction = 50_000;

/** The directory; its maker removes it. */
export async function buildListsWorld(size: Size): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), 'slipway-bench-lists-'));
  const paths = {
    dataDir,
    databasePath: join(dataDir, 'slipway.db'),
    secretKeyPath: join(dataDir, 'secret.key'),
  };
  const stores = await openStores(paths);
  await stores.database[Symbol.asyncDispose]();
  const keys = fill(paths.databasePath, size);

  const again = await openStores(paths);
  await again.database.write(async (tx) => {
    for (const key of keys) await again.runs.refreshSummary(tx, key);
  });
  await again.database[Symbol.asyncDispose]();
  return dataDir;
}

function fill(path: string, { stacks, runs }: Size): readonly string[] {
  const db = new BetterSqlite3(path);
  try {
    // It is thrown away if the machine dies over it.
    db.pragma('synchronous = OFF');
    db.pragma('cache_size = -400000');
    let nowMs = Date.now() - spanMs;
    const newId = createIds({ nowMs: () => nowMs });
    addAccounts(db, nowMs);
    // Made of all rows at once, an index takes a tenth of the time.
    const indexes = db
      .prepare(
        "select name, sql from sqlite_schema where type = 'index' and tbl_name = 'run' and sql is not null",
      )
      .all() as { name: string; sql: string }[];
    for (const { name } of indexes) db.exec(`drop index ${name}`);
    const keys = addStacks(db, stacks, newId);
    const addRun = runInserter(db);
    const transaction = db.transaction((from: number, to: number) => {
      for (let n = from; n < to; n += 1) {
        nowMs += spanMs / runs;
        addRun(n, newId(), keys[(n * 7919) % stacks] ?? '', n >= runs - stacks, Math.floor(nowMs));
      }
    });
    for (let n = 0; n < runs; n += runsOfTransaction) transaction(n, Math.min(runs, n + runsOfTransaction));
    for (const { sql } of indexes) db.exec(sql);
    return keys;
  } finally {
    db.close();
  }
}

function addAccounts(db: BetterSqlite3.Database, nowMs: number): void {
  const account = db.prepare('insert into account (id, login, installation_id) values (?, ?, ?)');
  for (const [n, login] of accounts.entries()) account.run(n + 1, login, n + 1);
  const repository = db.prepare(
    `insert into repository (id, account_id, installation_id, full_name, default_branch, is_private)
     values (?, ?, ?, ?, 'main', 1)`,
  );
  for (let n = 0; n < repositories; n += 1) {
    const owner = n % 10 === 0 ? 2 : 1;
    repository.run(n + 1, owner, owner, `${accounts[owner - 1]}/infra-${n}`);
  }
  db.prepare(
    `insert into session (id, hash, user_id, login, email, user_agent, created_at_ms, last_used_at_ms)
     values ('1', ?, 1, ?, '', '', ?, ?)`,
  ).run(
    createHash('sha256').update(admin.token).digest('hex'),
    admin.login,
    ...[nowMs + spanMs, nowMs + spanMs],
  );
}

function addStacks(db: BetterSqlite3.Database, count: number, newId: () => string): readonly string[] {
  const stack = db.prepare(
    `insert into stack (key, account_id, id, repository_id, settings, created_at_ms) values (?, ?, ?, ?, ?, 0)`,
  );
  return Array.from({ length: count }, (_, n) => {
    const [key, repository] = [newId(), n % repositories];
    const settings = stackSettings({
      name: `Service ${n}`,
      description: 'What the service needs: network, database, secrets.',
      labels: [`team-${n % 40}`, n % 3 === 0 ? 'prod' : 'staging'],
      projectRoot: `infra/service-${n}`,
    });
    stack.run(key, repository % 10 === 0 ? 2 : 1, `service-${n}`, repository + 1, JSON.stringify(settings));
    return key;
  });
}

function runInserter(db: BetterSqlite3.Database) {
  const run = db.prepare(
    `insert into run (id, stack_key, type, state, state_version, branch, commit_hash, "commit", created_at_ms,
       triggered_by, started_by, delta, had_worker, dedupe_key)
     values (?, ?, ?, ?, 8, ?, ?, ?, ?, 'ada@example.com', 'person:ada', ?, 1, ?)`,
  );
  const event = db.prepare(
    `insert into run_event (run_id, state_version, state, timestamp_ms, actor) values (?, 8, ?, ?, 'worker')`,
  );
  const delta = JSON.stringify({ added: 3, changed: 2, deleted: 1, resources: 120 });

  return (n: number, id: string, stackKey: string, isLast: boolean, nowMs: number): void => {
    const type = n % 1000 === 0 ? 'DESTROY' : n % 150 === 0 ? 'TASK' : (types[n % types.length] ?? 'TRACKED');
    const waits = isLast && type !== 'PROPOSED' && n % 4 === 0;
    const state = waits ? 'UNCONFIRMED' : (ends[n % ends.length] ?? 'FINISHED');
    const hash = n.toString(16).padStart(40, '0');
    const commit = JSON.stringify(aCommit({ hash, message: `Change number ${n}\n\nWhy: it was needed.` }));
    const branch = type === 'PROPOSED' ? `topic-${n % topics}` : 'main';
    run.run(id, stackKey, type, state, branch, hash, commit, nowMs, delta, id);
    event.run(id, state, nowMs);
  };
}
