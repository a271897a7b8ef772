import { describe, expect, test } from 'vitest';
import type { Notice, NoticeFilter, NoticeStore } from '../../src/policies/notice-store.ts';
import type { Transactions } from '../../src/tx.ts';
import { aNotice } from '../support/policies.ts';

interface Opened extends AsyncDisposable {
  notices: NoticeStore;
  transactions: Transactions;
  newId(): string;
  addStack(): Promise<string>;
  addRun(stackKey: string): Promise<string>;
  removeRun(id: string): Promise<void>;
}

const all: NoticeFilter = { account: null, before: null, limit: 50 };

/** What every store of notices must do. The accounts 11, "acme", and 12, "Umbrella", are there. */
export function noticeStoreContract(name: string, open: () => Promise<Opened>): void {
  describe(`the store of notices on ${name}`, () => {
    async function add(opened: Opened, change: Partial<Notice> = {}): Promise<Notice> {
      const notice = aNotice({ id: opened.newId(), atMs: 1000, ...change });
      await opened.transactions.write((tx) => opened.notices.insert(tx, notice));
      return notice;
    }
    const ids = async (opened: Opened, filter: Partial<NoticeFilter> = {}) =>
      (await opened.notices.list({ ...all, ...filter })).map(({ id }) => id);

    test('gives back what was written, with the login of the account', async () => {
      await using opened = await open();
      const stackKey = await opened.addStack();
      const notice = await add(opened, { stackKey, runId: await opened.addRun(stackKey), policyId: null });

      expect(await opened.notices.list(all)).toEqual([{ ...notice, account: 'acme' }]);
    });

    test('lists the newest first, page by page', async () => {
      await using opened = await open();
      const [first, second, third] = [await add(opened), await add(opened), await add(opened)];

      expect(await ids(opened, { limit: 2 })).toEqual([third.id, second.id]);
      expect(await ids(opened, { before: second.id })).toEqual([first.id]);
    });

    test('filters by account, stack and severity', async () => {
      await using opened = await open();
      const stackKey = await opened.addStack();
      const ofStack = await add(opened, { stackKey });
      const error = await add(opened, { stackKey, severity: 'ERROR' });
      const elsewhere = await add(opened, { accountId: 12 });

      expect(await ids(opened, { account: 'umbrella' })).toEqual([elsewhere.id]);
      expect(await ids(opened, { account: 'ACME' })).toEqual([error.id, ofStack.id]);
      expect(await ids(opened, { stackKey })).toEqual([error.id, ofStack.id]);
      expect(await ids(opened, { stackKey, severity: 'INFO' })).toEqual([ofStack.id]);
      expect(await ids(opened, { account: 'nobody' })).toEqual([]);
    });

    test('knows what was told about a run', async () => {
      await using opened = await open();
      const stackKey = await opened.addStack();
      const [runId, other] = [await opened.addRun(stackKey), await opened.addRun(stackKey)];
      await add(opened, { stackKey, runId, policyId: 'a', title: 'Broken' });
      const isTold = (of: string, policyId: string, title: string) =>
        opened.transactions.write((tx) => opened.notices.isTold(tx, { runId: of, policyId, title }));

      expect(await isTold(runId, 'a', 'Broken')).toBe(true);
      expect(await isTold(other, 'a', 'Broken')).toBe(false);
      expect(await isTold(runId, 'b', 'Broken')).toBe(false);
      expect(await isTold(runId, 'a', 'Mended')).toBe(false);
    });

    test('lets a notice go with its run, however old it is, and others for their age', async () => {
      await using opened = await open();
      const stackKey = await opened.addStack();
      const runId = await opened.addRun(stackKey);
      const ofRun = await add(opened, { stackKey, runId, atMs: 1 });
      await add(opened, { stackKey, atMs: 2 });
      await add(opened, { atMs: 1 });
      const young = await add(opened, { atMs: 3 });
      const remove = (limit: number) =>
        opened.transactions.write((tx) => opened.notices.removeBefore(tx, 3, limit));

      expect([await remove(1), await remove(5), await remove(5)]).toEqual([1, 1, 0]);
      expect(await ids(opened)).toEqual([young.id, ofRun.id]);
      await opened.removeRun(runId);
      expect(await ids(opened)).toEqual([young.id]);
    });
  });
}
