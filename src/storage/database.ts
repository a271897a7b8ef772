import { AsyncLocalStorage } from 'node:async_hooks';
import { closeSync, openSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import { Kysely } from 'kysely';
import type { Transactions, Tx } from '../tx.ts';
import { sqliteDialect } from './dialect.ts';
import { migrate } from './migrate.ts';
import type { Schema } from './schema.ts';
import { asStorageError } from './storage-full.ts';

/**
 * One SQLite file: a writer connection whose transactions are serialised here, and a read-only connection
 * for everything that only looks. WAL with FULL durability: what was answered survives a power cut.
 */
export interface Database extends Transactions, AsyncDisposable {
  /** Committed data only; never waits for a writer. Inside `write` it would see the past, so it rejects there. */
  readonly read: Kysely<Schema>;
  /**
   * The queries of an open transaction. Throws when `tx` has ended or belongs to another database; a query
   * that was built before the end and is executed after it is rejected too.
   */
  inside(tx: Tx): Kysely<Schema>;
  /** The writer connection, for hand-written prepared statements on hot paths inside `write`. */
  rawInside(tx: Tx): BetterSqlite3.Database;
}

interface OpenTx extends Tx {
  open: boolean;
  readonly wakes: (() => void)[];
}

export function openDatabase(path: string): Database {
  const writer = openWriter(path);
  const reader = new BetterSqlite3(path, { readonly: true, timeout: 5000 });

  const current = new AsyncLocalStorage<OpenTx>();
  const isInside = () => current.getStore()?.open === true;
  const write = new Kysely<Schema>({
    dialect: sqliteDialect(writer, () => {
      // A promise that nobody awaited would otherwise write into the transaction of a stranger.
      if (!isInside()) throw new Error('the transaction has ended');
    }),
  });
  const read = new Kysely<Schema>({
    dialect: sqliteDialect(reader, () => {
      if (isInside()) throw new Error('read inside write');
    }),
  });
  const mine = new WeakSet<Tx>();
  let last: Promise<unknown> = Promise.resolve();

  async function inTransaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const wakes: (() => void)[] = [];
    const tx: OpenTx = { open: true, wakes, afterCommit: (wake) => void wakes.push(wake) };
    mine.add(tx);
    // IMMEDIATE: a deferred transaction that reads first can fail with BUSY at its first write.
    writer.exec('begin immediate');
    let result: T;
    try {
      result = await current.run(tx, () => work(tx));
      tx.open = false;
      writer.exec('commit');
    } catch (error) {
      tx.open = false;
      if (writer.inTransaction) writer.exec('rollback');
      throw asStorageError(error);
    }
    // Not called here: what is committed must not look like a failure because a hint threw.
    for (const wake of wakes) queueMicrotask(wake);
    return result;
  }

  function assertOpen(tx: Tx): void {
    if (!mine.has(tx) || !(tx as OpenTx).open) throw new Error('the transaction has ended');
  }

  return {
    read,
    write(work) {
      // It would wait for itself for ever: there is one writer.
      if (isInside()) return Promise.reject(new Error('write inside write'));
      const turn = last.then(() => inTransaction(work));
      last = turn.catch(() => undefined);
      return turn;
    },
    inside(tx) {
      assertOpen(tx);
      return write;
    },
    rawInside(tx) {
      assertOpen(tx);
      return writer;
    },
    async [Symbol.asyncDispose]() {
      await last;
      reader.close();
      writer.close();
    },
  };
}

function openWriter(path: string): BetterSqlite3.Database {
  // SQLite would make it readable for everybody; its companions (-wal, -shm) get the same mode.
  closeSync(openSync(path, 'a', 0o600));
  const writer = new BetterSqlite3(path, { timeout: 5000 });
  try {
    switchToWal(writer);
    writer.pragma('synchronous = FULL');
    writer.pragma('foreign_keys = ON');
    writer.pragma('wal_autocheckpoint = 4000');
    // What one large transaction needed does not stay on the disk.
    writer.pragma(`journal_size_limit = ${64 * 1024 * 1024}`);
    migrate(writer);
    return writer;
  } catch (error) {
    writer.close();
    throw error;
  }
}

const switchWithinMs = 5000;

/** Of processes that open a new file at the same time all but one are told to come back: for this SQLite does not wait. */
function switchToWal(writer: BetterSqlite3.Database): void {
  const until = performance.now() + switchWithinMs;
  for (;;) {
    try {
      writer.pragma('journal_mode = WAL');
      return;
    } catch (error) {
      const isBusy = error instanceof BetterSqlite3.SqliteError && error.code === 'SQLITE_BUSY';
      if (!isBusy || performance.now() > until) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}
