import { describe, expect, test } from 'vitest';
import { type AuditQuery, type AuditRow, type AuditStore, noSubject } from '../../src/access/audit-log.ts';
import type { Transactions } from '../../src/tx.ts';

export interface OpenedAuditStore extends AsyncDisposable {
  readonly audit: AuditStore;
  readonly transactions: Transactions;
}

const everything: AuditQuery = {
  ...{ account: null, stack: null, actor: null, sinceMs: null, untilMs: null, before: null, limit: 100 },
};

/** What every store of the audit log must do. */
export function auditStoreContract(
  name: string,
  open: () => OpenedAuditStore | Promise<OpenedAuditStore>,
): void {
  async function opened() {
    const world = await open();
    const { audit, transactions } = world;
    return {
      ...world,
      add: (change: Partial<AuditRow> = {}) => transactions.write((tx) => audit.add(tx, aRow(change))),
      list: (change: Partial<AuditQuery> = {}) => audit.list({ ...everything, ...change }),
      [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
    };
  }

  describe(`the audit log on ${name}`, () => {
    test('keeps a row as it was given', async () => {
      await using world = await opened();
      const full = aRow({
        params: { account: 'acme', stack: 'net' },
        origin: { via: 'ui', address: '203.0.113.7', forwardedFor: '198.51.100.9' },
        subject: { repositoryId: 21, account: 'acme', stack: 'net', run: 'run-1' },
        ...{ outcome: 'refused', status: 409, note: 'locked' },
      });

      const [bare, rich] = [await world.add(), await world.add(full)];

      expect(await world.list()).toEqual([
        { ...full, seq: rich },
        { ...aRow(), seq: bare },
      ]);
    });

    test('completes one row, and learns what it was about', async () => {
      await using world = await opened();
      const known = { repositoryId: 21, account: 'acme', stack: 'net', run: null };
      const [one, two] = [await world.add({ subject: known }), await world.add()];
      const done = { outcome: 'done', status: 201, note: 'why' } as const;
      const made = { repositoryId: 22, account: 'globex', stack: 'other', run: 'run-1' };

      await world.transactions.write((tx) => world.audit.complete(tx, one, done, made));

      const [second, first] = await world.list();
      expect(first).toMatchObject({ seq: one, ...done, subject: { ...known, run: 'run-1' } });
      expect(second).toEqual({ ...aRow(), seq: two });
    });

    test('forgets nothing that it knew when it is told nothing more', async () => {
      await using world = await opened();
      const subject = { repositoryId: 21, account: 'acme', stack: 'net', run: 'run-1' };
      const seq = await world.add({ subject });
      const result = { outcome: 'failed', status: 500, note: null } as const;

      await world.transactions.write((tx) => world.audit.complete(tx, seq, result, noSubject));

      expect(await world.list()).toMatchObject([{ ...result, subject }]);
    });

    test.each<[string, Partial<AuditQuery>, number[]]>([
      ['account, in any case', { account: 'ACME' }, [3, 1]],
      ['stack', { account: 'acme', stack: 'net' }, [1]],
      ['name of an actor, in any case', { actor: 'ada' }, [2, 1]],
      ['key of an actor', { actor: 'token:T1' }, [3]],
      ['time', { sinceMs: 20, untilMs: 30 }, [2]],
      ['position', { before: 3 }, [2, 1]],
      ['number', { limit: 2 }, [3, 2]],
    ])('lists by %s', async (_, query, wanted) => {
      await using world = await opened();
      const of = (account: string, stack: string) => ({ repositoryId: 21, account, stack, run: null });
      const ada = { kind: 'person', key: 'person:ada', name: 'Ada' } as const;
      const ci = { kind: 'token', key: 'token:T1', name: 'ci' } as const;
      const seqs = [
        await world.add({ atMs: 10, actor: ada, subject: of('Acme', 'net') }),
        await world.add({ atMs: 20, actor: ada, subject: of('globex', 'net') }),
        await world.add({ atMs: 30, actor: ci, subject: of('acme', 'dns') }),
      ];
      const before = query.before ? { before: seqs[query.before - 1] ?? 0 } : {};

      const found = await world.list({ ...query, ...before });

      expect(found.map(({ seq }) => seqs.indexOf(seq) + 1)).toEqual(wanted);
    });

    test('removes what is older, in pieces, and gives no number twice', async () => {
      await using world = await opened();
      for (const atMs of [10, 20, 30]) await world.add({ atMs });
      const remove = (beforeMs: number, limit: number) =>
        world.transactions.write((tx) => world.audit.removeBefore(tx, beforeMs, limit));
      const [newest] = await world.list();

      expect([await remove(30, 1), await remove(30, 5), await remove(30, 5)]).toEqual([1, 1, 0]);
      expect((await world.list()).map(({ atMs }) => atMs)).toEqual([30]);
      expect(await remove(31, 5)).toBe(1);
      expect(await world.add()).toBeGreaterThan(newest?.seq ?? 0);
    });

    test('keeps nothing of a transaction that failed', async () => {
      await using world = await opened();
      const failing = world.transactions.write(async (tx) => {
        await world.audit.add(tx, aRow());
        throw new Error('rolled back');
      });
      await expect(failing).rejects.toThrow('rolled back');
      expect(await world.list()).toEqual([]);
    });
  });
}

function aRow(change: Partial<AuditRow> = {}): Omit<AuditRow, 'seq'> {
  return {
    atMs: 5,
    actor: { kind: 'operator', key: 'operator', name: 'operator' },
    origin: { via: 'cli', address: null, forwardedFor: null },
    operation: 'POST /api/v1/stacks',
    params: {},
    subject: noSubject,
    ...{ outcome: 'unknown', status: null, note: null },
    ...change,
  };
}
