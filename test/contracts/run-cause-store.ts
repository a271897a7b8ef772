import { describe, expect, test } from 'vitest';
import type { RunCause, RunCauseStore } from '../../src/runs/run-causes.ts';
import type { Transactions } from '../../src/tx.ts';

interface Opened extends AsyncDisposable {
  causes: RunCauseStore;
  transactions: Transactions;
  /** Each sorts after the one before. */
  addRun(): Promise<string>;
  removeRun(id: string): Promise<void>;
}

const why = { policyId: 'policy-1', policyName: 'Chain' };

/** What every store of causes must do. */
export function runCauseStoreContract(name: string, open: () => Promise<Opened>): void {
  describe(`the store of causes on ${name}`, () => {
    async function chain(opened: Opened): Promise<readonly [string, RunCause, RunCause]> {
      const root = await opened.addRun();
      const first = { runId: await opened.addRun(), causeRunId: root, workflow: root, depth: 1, ...why };
      const second = { ...first, runId: await opened.addRun(), causeRunId: first.runId, depth: 2 };
      await opened.transactions.write(async (tx) => {
        await opened.causes.insert(tx, second);
        await opened.causes.insert(tx, first);
      });
      return [root, first, second];
    }

    test('knows which run a run follows from, inside and outside of a transaction', async () => {
      await using opened = await open();
      const [root, first, second] = await chain(opened);

      expect(await opened.causes.find(first.runId)).toEqual(first);
      expect(await opened.transactions.write((tx) => opened.causes.find(second.runId, tx))).toEqual(second);
      expect(await opened.causes.find(root)).toBeNull();
    });

    test('lists a workflow in the order in which its runs were made, and no other one', async () => {
      await using opened = await open();
      const [root, first, second] = await chain(opened);
      const [other] = await chain(opened);

      expect(await opened.causes.ofWorkflow(root)).toEqual([first, second]);
      expect(await opened.causes.ofWorkflow(other)).toHaveLength(2);
      expect(await opened.causes.ofWorkflow('gone')).toEqual([]);
    });

    test('refuses a second cause of one run', async () => {
      await using opened = await open();
      const [, first] = await chain(opened);

      await expect(opened.transactions.write((tx) => opened.causes.insert(tx, first))).rejects.toThrow();
    });

    test('forgets the cause of a run with the run, and still tells of a run whose cause is gone', async () => {
      await using opened = await open();
      const [root, first, second] = await chain(opened);

      await opened.removeRun(first.runId);
      await opened.removeRun(root);

      expect(await opened.causes.find(first.runId)).toBeNull();
      expect(await opened.causes.ofWorkflow(root)).toEqual([second]);
    });
  });
}
