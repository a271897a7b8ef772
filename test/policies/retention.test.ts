import { expect, it } from 'vitest';
import { createIds } from '../../src/ids.ts';
import { sweepDecisions } from '../../src/policies/retention.ts';
import { createDecisionStore } from '../../src/storage/decision-store.ts';
import { createNoticeStore } from '../../src/storage/notice-store.ts';
import { createPolicyStore } from '../../src/storage/policy-store.ts';
import { createRepositoryStore } from '../../src/storage/repository-store.ts';
import { createSampleStore } from '../../src/storage/sample-store.ts';
import { createSecretBox } from '../../src/storage/secret-box.ts';
import { anAccount } from '../support/builders.ts';
import { manualClock } from '../support/manual-clock.ts';
import { aJudgement, aNotice, aPolicy } from '../support/policies.ts';
import { tempDatabase } from '../support/temp-database.ts';

const dayMs = 24 * 60 * 60 * 1000;

it.each([
  [10, 0, 1],
  [6, 1, 1],
  [7, 1, 1],
])(
  'keeps samples for a week, decisions and notices as long as the audit log: %i days',
  async (days, samples, decisions) => {
    await using world = await judged();
    world.clock.advance(days * dayMs);
    await world.sweep(10);
    expect(await world.counts()).toEqual({ samples, decisions, notices: decisions });

    world.clock.advance(11 * dayMs);
    await world.sweep(0);
    expect(await world.counts()).toEqual({ samples: 0, decisions: 1, notices: 1 });
    await world.sweep(10);
    expect(await world.counts()).toEqual({ samples: 0, decisions: 0, notices: 0 });
  },
);

async function judged() {
  const temp = tempDatabase();
  const { database } = temp;
  const box = createSecretBox(Buffer.alloc(32, 7));
  const clock = manualClock();
  const decisions = createDecisionStore(database, box, { clock, newId: createIds(clock) });
  const samples = createSampleStore(database, box);
  const notices = createNoticeStore(database);
  const input = await decisions.packSample(Buffer.from('{}'));
  await database.write(async (tx) => {
    await createRepositoryStore(database).saveAccount(tx, anAccount());
    await createPolicyStore(database).insert(tx, aPolicy());
    const about = { accountId: 11, stackKey: null, runId: null, subject: 'the plan' };
    await decisions.record(tx, aJudgement({ sample: true }), about, input);
    await notices.insert(tx, aNotice({ atMs: clock.nowMs() }));
  });
  const parts = { decisions, samples, notices, transactions: database, clock };
  return {
    clock,
    sweep: (auditDays: number) => sweepDecisions({ ...parts, auditDays }, new AbortController().signal),
    counts: async () => ({
      samples: (await samples.list(aPolicy().id)).length,
      decisions: (await decisions.list({ before: null, limit: 10 })).length,
      notices: (await notices.list({ account: null, before: null, limit: 10 })).length,
    }),
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}
