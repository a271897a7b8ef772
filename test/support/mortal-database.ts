import type { Database } from '../../src/storage/database.ts';
import type { Tx } from '../../src/tx.ts';

/** What every call of a server that died meanwhile rejects with. */
export class Death extends Error {
  override readonly name = 'Death';
}

/** A server's life on a database, counted in what it asks of it, so that it can end between any two. */
export interface Life {
  readonly isOver: boolean;
  /** From now on it lives for so many more steps; without a number it does not end by itself. */
  endAfter(steps: number | null): void;
  end(): void;
  readonly database: Database;
}

/**
 * The database as a process has it that may be killed: before a transaction, between two of its statements,
 * before its commit, or after the commit and before anybody was told. A dead one changes nothing any more.
 * `turns` says how many turns of the event loop's queue each transaction waits for, so that calls overtake each other.
 */
export function mortal(database: Database, turns: () => number = () => 0): Life {
  const opened = new WeakMap<Tx, Tx>();
  let left: number | null = null;
  let isOver = false;

  function live(): void {
    if (left !== null && left-- <= 0) isOver = true;
    if (isOver) throw new Death();
  }
  const behind = (tx: Tx): Tx => opened.get(tx) ?? tx;

  return {
    get isOver() {
      return isOver;
    },
    endAfter(steps) {
      left = steps;
    },
    end() {
      isOver = true;
    },
    database: {
      read: database.read,
      async write(work) {
        for (let turn = turns(); turn > 0; turn -= 1) await null;
        const result = await database.write(async (tx) => {
          live();
          const own: Tx = {
            afterCommit: (wake) =>
              tx.afterCommit(() => {
                if (!isOver) wake();
              }),
          };
          opened.set(own, tx);
          const done = await work(own);
          live();
          // What was written stays; that it was, nobody hears.
          if (left !== null && left-- <= 0) isOver = true;
          return done;
        });
        if (isOver) throw new Death();
        return result;
      },
      inside(tx) {
        live();
        return database.inside(behind(tx));
      },
      rawInside(tx) {
        live();
        return database.rawInside(behind(tx));
      },
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    },
  };
}
