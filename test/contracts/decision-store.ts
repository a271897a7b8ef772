import { describe, expect, it } from 'vitest';
import type { Judgement } from '../../src/policies/judgement.ts';
import type {
  DecisionStore,
  JudgementSubject,
  PolicyStore,
  SampleStore,
} from '../../src/policies/policy-store.ts';
import type { Transactions } from '../../src/tx.ts';
import type { ManualClock } from '../support/manual-clock.ts';
import { aJudgement, aPolicy } from '../support/policies.ts';

export interface DecisionStoreWorld extends AsyncDisposable {
  readonly policies: PolicyStore;
  readonly decisions: DecisionStore;
  readonly samples: SampleStore;
  readonly transactions: Transactions;
  readonly clock: ManualClock;
  /** Of account 11. */
  addStack(): Promise<string>;
  addRun(stackKey: string): Promise<string>;
  removeRun(id: string): Promise<void>;
  /** All bytes that the store keeps. */
  dump(): Buffer;
}

const plan: JudgementSubject = { accountId: 11, stackKey: null, runId: null, subject: 'the plan' };
const login: JudgementSubject = { ...plan, accountId: null, subject: 'the login of ann' };
const all = { before: null, limit: 1000 };

/** What every store of decisions and samples must do. */
export function decisionStoreContract(name: string, open: () => Promise<DecisionStoreWorld>): void {
  async function opened() {
    const world = await open();
    const { decisions, transactions, policies } = world;
    await transactions.write((tx) => policies.insert(tx, aPolicy()));
    return {
      ...world,
      record: (change: Partial<Judgement> = {}, about: JudgementSubject = plan, input = '{}') =>
        // Packed before: whoever writes holds up all others.
        decisions
          .packSample(Buffer.from(input))
          .then((packed) =>
            transactions.write((tx) => decisions.record(tx, aJudgement(change), about, packed)),
          ),
      [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
    };
  }

  describe(`decision store on ${name}`, () => {
    it('gives back what was recorded', async () => {
      await using world = await opened();
      const stackKey = await world.addStack();
      const runId = await world.addRun(stackKey);
      const first = await world.record({}, { ...plan, stackKey, runId });
      const failure = { code: 'builtin', message: 'to_number: invalid', line: 4, column: 2 } as const;
      const second = await world.record(
        { outcome: 'failed', messages: [], values: {}, failure, durationMs: 2.6 },
        { ...plan, stackKey, runId, subject: 'another' },
      );
      const { id, name: policyName, version, digest } = aPolicy();
      expect(first).toMatchObject({
        ...{
          policy: { id, name: policyName, version, digest },
          kind: 'PLAN',
          accountId: 11,
          stackKey,
          runId,
        },
        ...{ outcome: 'denied', messages: ['nobody deletes the network'], failure: null },
        ...{ subject: 'the plan', atMs: world.clock.nowMs(), engine: 'opa 1.22.0', durationMs: 12 },
      });
      expect(first).not.toHaveProperty('sample');
      expect(await world.decisions.ofRun(runId)).toEqual([first, { ...second, durationMs: 3 }]);
    });

    it('keeps no values that are large: all messages are shown by themselves', async () => {
      await using world = await opened();
      const values = { deny: ['x'.repeat(70_000)], warn: ['y'], sample: true };
      const recorded = await world.record({ values });
      expect(recorded.values).toEqual({ warn: ['y'], sample: true });
      expect(await world.decisions.list(all)).toEqual([recorded]);
    });

    it('lists the newest first, of a policy or of a stack, page by page', async () => {
      await using world = await opened();
      const stackKey = await world.addStack();
      const made = [
        await world.record(),
        await world.record({}, { ...plan, stackKey }),
        await world.record({ policy: aPolicy({ id: 'other' }) }, { ...plan, stackKey }),
      ].map(({ id }) => id);
      const list = async (filter: Partial<Parameters<DecisionStore['list']>[0]>) =>
        (await world.decisions.list({ ...all, ...filter })).map(({ id }) => made.indexOf(id));
      expect(await list({})).toEqual([2, 1, 0]);
      expect(await list({ limit: 1, before: made[2] ?? null })).toEqual([1]);
      expect(await list({ policyId: aPolicy().id })).toEqual([1, 0]);
      expect(await list({ stackKey })).toEqual([2, 1]);
      expect(await list({ stackKey, policyId: 'other' })).toEqual([2]);
    });

    it('tells of policies that are gone, and of no run that is', async () => {
      await using world = await opened();
      const stackKey = await world.addStack();
      const runId = await world.addRun(stackKey);
      await world.record({ sample: true }, { ...plan, stackKey, runId });
      await world.record({}, { ...plan, stackKey });
      await world.removeRun(runId);
      await world.transactions.write((tx) => world.policies.delete(tx, aPolicy().id));
      expect(await world.decisions.list(all)).toMatchObject([
        { runId: null, policy: { name: 'no deletes' } },
      ]);
      expect(await world.decisions.ofRun(runId)).toEqual([]);
    });

    it('lets go of what is old, of no run, in pieces', async () => {
      await using world = await opened();
      const runId = await world.addRun(await world.addStack());
      await world.record({}, { ...plan, runId });
      await world.record();
      await world.record();
      world.clock.advance(1000);
      const young = await world.record();
      const remove = () => world.transactions.write((tx) => world.decisions.deleteBefore(tx, young.atMs, 1));
      expect([await remove(), await remove(), await remove()]).toEqual([1, 1, 0]);
      expect(await world.decisions.list(all)).toMatchObject([{ id: young.id }, { runId }]);
    });
  });

  describe(`sample store on ${name}`, () => {
    it('keeps the input where it is asked for, and not to be read on the disk', async () => {
      await using world = await opened();
      const input = JSON.stringify({ text: 'an input that must not be found ü' });
      const kept = await world.record({ sample: true }, plan, input);
      const other = await world.record({}, plan, input);
      const { id, policy, outcome, subject, atMs } = kept;
      const sample = {
        ...{ id, policyId: policy.id, policyVersion: 1, kind: 'PLAN', subject, outcome },
        ...{ stackKey: null, runId: null, atMs },
      };
      expect(await world.samples.list(policy.id)).toEqual([sample]);
      expect(await world.samples.find(id)).toEqual(sample);
      expect(await world.samples.input(id)).toBe(input);
      expect([await world.samples.find(other.id), await world.samples.input(other.id)]).toEqual([null, null]);
      expect(world.dump().includes('the plan')).toBe(true);
      expect(world.dump().includes('must not be found')).toBe(false);
    });

    it('keeps the newest hundred of an account', async () => {
      await using world = await opened();
      const ofInstance = await world.record({ sample: true }, login);
      const first = await world.record({ sample: true });
      const second = await world.record({ sample: true });
      for (let made = 2; made < 100; made += 1) await world.record({ sample: true });
      expect(await world.samples.list(aPolicy().id)).toHaveLength(101);

      const last = await world.record({ sample: true });
      const ids = (await world.samples.list(aPolicy().id)).map(({ id }) => id);
      expect(ids).toHaveLength(101);
      expect(ids[0]).toBe(last.id);
      expect(ids.slice(-2)).toEqual([second.id, ofInstance.id]);
      expect(await world.samples.input(first.id)).toBeNull();
    });

    it('keeps none of a policy that is gone', async () => {
      await using world = await opened();
      const before = await world.record({ sample: true });
      await world.transactions.write((tx) => world.policies.delete(tx, aPolicy().id));
      const after = await world.record({ sample: true });
      expect([await world.samples.find(before.id), await world.samples.find(after.id)]).toEqual([null, null]);
      expect(await world.decisions.list(all)).toHaveLength(2);
    });

    it('lets go of what is old', async () => {
      await using world = await opened();
      await world.record({ sample: true });
      world.clock.advance(1000);
      const young = await world.record({ sample: true });
      const remove = () => world.transactions.write((tx) => world.samples.deleteBefore(tx, young.atMs));
      expect([await remove(), await remove()]).toEqual([1, 0]);
      expect(await world.samples.list(aPolicy().id)).toMatchObject([{ id: young.id }]);
    });
  });
}
