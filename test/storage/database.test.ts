import { statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Tx } from '../../src/tx.ts';
import { type TempDatabase, tempDatabase } from '../support/temp-database.ts';

const account = (id: number, login = `account-${id}`) =>
  ({ id, login, installation_id: null, suspended: 0 }) as const;

const insert = ({ database }: TempDatabase, tx: Tx, id: number) =>
  database.inside(tx).insertInto('account').values(account(id)).execute();
const ids = async ({ database }: TempDatabase) =>
  (await database.read.selectFrom('account').select('id').orderBy('id').execute()).map(({ id }) => id);

describe('a write transaction', () => {
  it('gives the result of its work once that is readable', async () => {
    await using temp = tempDatabase();

    const result = await temp.database.write(async (tx) => {
      await insert(temp, tx, 1);
      return 'done';
    });

    expect(result).toBe('done');
    expect(await ids(temp)).toEqual([1]);
  });

  it('leaves nothing behind when its work rejects, and passes the rejection on', async () => {
    await using temp = tempDatabase();

    const failing = temp.database.write(async (tx) => {
      await insert(temp, tx, 1);
      throw new Error('changed my mind');
    });

    await expect(failing).rejects.toThrow('changed my mind');
    expect(await ids(temp)).toEqual([]);
    await temp.database.write((tx) => insert(temp, tx, 2));
    expect(await ids(temp)).toEqual([2]);
  });

  it('is undone as a whole when one of its statements is refused and nobody catches that', async () => {
    await using temp = tempDatabase();
    const failing = temp.database.write(async (tx) => {
      await insert(temp, tx, 1);
      await insert(temp, tx, 1);
    });

    await expect(failing).rejects.toThrow('UNIQUE');
    expect(await ids(temp)).toEqual([]);
  });

  it('goes on after a refused statement that was expected', async () => {
    await using temp = tempDatabase();

    await temp.database.write(async (tx) => {
      await insert(temp, tx, 1);
      await expect(insert(temp, tx, 1)).rejects.toThrow('UNIQUE');
      await insert(temp, tx, 2);
    });

    expect(await ids(temp)).toEqual([1, 2]);
  });

  it('is refused inside another, which would wait for itself for ever', async () => {
    await using temp = tempDatabase();
    const { database } = temp;

    const nested = database.write(async (tx) => {
      await insert(temp, tx, 1);
      await database.write((inner) => insert(temp, inner, 2));
    });

    await expect(nested).rejects.toThrow('write inside write');
    expect(await ids(temp)).toEqual([]);
  });

  it('may follow another in the same flow', async () => {
    await using temp = tempDatabase();
    const { database } = temp;

    await database.write((tx) => insert(temp, tx, 1));
    await database.write((tx) => insert(temp, tx, 2));

    expect(await ids(temp)).toEqual([1, 2]);
  });

  it('waits for the one before it, so that read and write go together', async () => {
    await using temp = tempDatabase();
    const { database } = temp;
    await database.write((tx) => insert(temp, tx, 1));

    const addOne = () =>
      database.write(async (tx) => {
        const db = database.inside(tx);
        const { login } = await db.selectFrom('account').select('login').executeTakeFirstOrThrow();
        await Promise.resolve();
        await db
          .updateTable('account')
          .set({ login: `${login}.` })
          .execute();
      });
    await Promise.all(Array.from({ length: 20 }, addOne));

    const { login } = await database.read.selectFrom('account').select('login').executeTakeFirstOrThrow();
    expect(login).toBe(`account-1${'.'.repeat(20)}`);
  });

  it('does not stop those behind it when it fails', async () => {
    await using temp = tempDatabase();
    const { database } = temp;

    const results = await Promise.allSettled([
      database.write((tx) => insert(temp, tx, 1)),
      database.write(() => Promise.reject(new Error('broken'))),
      database.write((tx) => insert(temp, tx, 3)),
    ]);

    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await ids(temp)).toEqual([1, 3]);
  });

  it('keeps the rules between tables', async () => {
    await using temp = tempDatabase();
    const orphan = { run_id: 'nobody', box: new Uint8Array() };
    const failing = temp.database.write((tx) =>
      temp.database.inside(tx).insertInto('run_box').values(orphan).execute(),
    );
    await expect(failing).rejects.toThrow('FOREIGN KEY');
  });
});

describe('the handle of a transaction', () => {
  it('is worthless after the end, a commit or not', async () => {
    await using temp = tempDatabase();
    const { database } = temp;
    const kept: Tx[] = [];
    await database.write(async (tx) => void kept.push(tx));
    const failing = database.write((tx) => {
      kept.push(tx);
      return Promise.reject(new Error('rolled back'));
    });
    await expect(failing).rejects.toThrow('rolled back');

    for (const tx of kept) {
      expect(() => database.inside(tx)).toThrow('has ended');
      expect(() => database.rawInside(tx)).toThrow('has ended');
    }
  });

  it('is worthless in another database', async () => {
    await using one = tempDatabase();
    await using other = tempDatabase();
    await one.database.write(async (tx) => {
      expect(() => other.database.inside(tx)).toThrow('has ended');
    });
  });

  it('does not let a query that nobody awaited slip into the transaction of a stranger', async () => {
    await using temp = tempDatabase();
    const { database } = temp;
    let late: Promise<unknown> = Promise.resolve();
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    await database.write(async (tx) => {
      const query = database.inside(tx).insertInto('account').values(account(1));
      late = gate.then(() => query.execute());
    });

    const stranger = database.write(async (tx) => {
      release();
      await expect(late).rejects.toThrow('has ended');
      await insert(temp, tx, 2);
    });

    await stranger;
    expect(await ids(temp)).toEqual([2]);
  });
});

describe('a wake-up', () => {
  it('comes after the commit, when the rows can be read', async () => {
    await using temp = tempDatabase();
    const seen: Promise<number[]>[] = [];

    await temp.database.write(async (tx) => {
      tx.afterCommit(() => seen.push(ids(temp)));
      await insert(temp, tx, 1);
      expect(seen).toEqual([]);
    });

    expect(await Promise.all(seen)).toEqual([[1]]);
  });

  it('never comes for what was rolled back', async () => {
    await using temp = tempDatabase();
    let rung = 0;
    const failing = temp.database.write(async (tx) => {
      tx.afterCommit(() => {
        rung += 1;
      });
      throw new Error('rolled back');
    });

    await expect(failing).rejects.toThrow('rolled back');
    await temp.database.write(() => Promise.resolve());
    expect(rung).toBe(0);
  });

  it('may write itself', async () => {
    await using temp = tempDatabase();
    let next: Promise<unknown> = Promise.resolve();

    await temp.database.write(async (tx) => {
      tx.afterCommit(() => {
        next = temp.database.write((inner) => insert(temp, inner, 2));
      });
      await insert(temp, tx, 1);
    });

    await next;
    expect(await ids(temp)).toEqual([1, 2]);
  });
});

describe('a read', () => {
  it('sees nothing of a transaction that is still open', async () => {
    await using temp = tempDatabase();
    let looked: Promise<number[]> = Promise.resolve([]);
    let go = () => {};
    const mayLook = new Promise<void>((resolve) => {
      go = resolve;
    });
    const looking = mayLook.then(() => ids(temp));
    looked = looking;

    await temp.database.write(async (tx) => {
      await insert(temp, tx, 1);
      go();
      expect(await looked).toEqual([]);
    });

    expect(await ids(temp)).toEqual([1]);
  });

  it('is refused inside a transaction, where it would see the past', async () => {
    await using temp = tempDatabase();
    await temp.database.write(async () => {
      await expect(ids(temp)).rejects.toThrow('read inside write');
    });
  });

  it('cannot write', async () => {
    await using temp = tempDatabase();
    const { read } = temp.database;
    await expect(read.insertInto('account').values(account(1)).execute()).rejects.toThrow('readonly');
  });
});

it('keeps the file from the eyes of other users', async () => {
  await using temp = tempDatabase();
  await temp.database.write((tx) => insert(temp, tx, 1));
  const modes = ['', '-wal', '-shm'].map((suffix) => statSync(temp.path + suffix).mode & 0o777);
  expect(modes).toEqual([0o600, 0o600, 0o600]);
});

describe('a disk that is full', () => {
  /** As SQLite sees it: no page more than there are. */
  const fill = ({ database }: TempDatabase, isFull: boolean) =>
    database.write(async (tx) => {
      const raw = database.rawInside(tx);
      const pages = raw.pragma('page_count', { simple: true }) as number;
      raw.pragma(`max_page_count = ${isFull ? pages : 1_000_000}`);
    });
  const large = (temp: TempDatabase) =>
    temp.database.write((tx) =>
      temp.database
        .inside(tx)
        .insertInto('account')
        .values(account(2, 'x'.repeat(1_000_000)))
        .execute(),
    );

  it('refuses what needs room as something to be told, keeps what there is, and goes on with room', async () => {
    await using temp = tempDatabase();
    await temp.database.write((tx) => insert(temp, tx, 1));
    await fill(temp, true);

    for (let n = 0; n < 2; n += 1) await expect(large(temp)).rejects.toMatchObject({ code: 'storage-full' });

    expect(await ids(temp)).toEqual([1]);
    await fill(temp, false);
    await large(temp);
    expect(await ids(temp)).toEqual([1, 2]);
  });
});

describe('the log of writes', () => {
  const mebibyte = 1024 * 1024;
  const walBytes = (temp: TempDatabase) => statSync(`${temp.path}-wal`).size;
  const write = (temp: TempDatabase, id: number, bytes: number) =>
    temp.database.write(async (tx) => {
      temp.database
        .rawInside(tx)
        .prepare('insert into account (id, login) values (?, cast(zeroblob(?) as text))')
        .run(id, bytes);
    });

  it('is taken over while others read, and does not grow with what is written', async () => {
    await using temp = tempDatabase();
    let largest = 0;
    for (let n = 1; n <= 300; n += 1) {
      await Promise.all([
        write(temp, n, 200_000),
        temp.database.read.selectFrom('account').select('id').execute(),
      ]);
      largest = Math.max(largest, walBytes(temp));
    }

    // 60 MB were written; 4,000 pages are 16 MiB.
    expect(largest).toBeLessThan(20 * mebibyte);
  });

  it('gives back what one large transaction took', async () => {
    await using temp = tempDatabase();
    await write(temp, 1, 100 * mebibyte);
    const after = walBytes(temp);
    for (let n = 2; n < 6; n += 1) await write(temp, n, 10);

    expect(after).toBeGreaterThan(90 * mebibyte);
    expect(walBytes(temp)).toBeLessThanOrEqual(64 * mebibyte);
  });
});
