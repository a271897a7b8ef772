import { expect, test, vi } from 'vitest';
import { createAuditLog } from '../src/access/audit-log.ts';
import { createIdempotency } from '../src/access/idempotency.ts';
import { commandLine } from '../src/access/origin.ts';
import { type Browser, createSessions, type Person } from '../src/access/sessions.ts';
import { startHousekeeping } from '../src/housekeeping.ts';
import { createIds } from '../src/ids.ts';
import { createLogger } from '../src/logger.ts';
import type { Runs } from '../src/runs/runs.ts';
import { createAnsweredComments } from '../src/storage/answered-comments.ts';
import { createAuditStore } from '../src/storage/audit-store.ts';
import { createDecisionStore } from '../src/storage/decision-store.ts';
import { createDeliveryStore } from '../src/storage/delivery-store.ts';
import { createIdempotencyStore } from '../src/storage/idempotency-store.ts';
import { createNoticeStore } from '../src/storage/notice-store.ts';
import { createOutboxStore } from '../src/storage/outbox-store.ts';
import { createReplayStore } from '../src/storage/replay-store.ts';
import { createSampleStore } from '../src/storage/sample-store.ts';
import { createSecretBox } from '../src/storage/secret-box.ts';
import { createSessionStore } from '../src/storage/session-store.ts';
import { manualClock } from './support/manual-clock.ts';
import { tempDatabase } from './support/temp-database.ts';

const dayMs = 86_400_000;

test('sessions that are over are removed, and what was answered long ago is forgotten', async () => {
  await using temp = tempDatabase();
  const { database } = temp;
  const clock = manualClock();
  const parts = { transactions: database, clock, newId: createIds(clock) };
  const box = createSecretBox(Buffer.alloc(32, 7));
  const audit = createAuditLog({ ...parts, store: createAuditStore(database) });
  const idempotency = createIdempotency({
    ...parts,
    store: createIdempotencyStore(database, box),
  });
  const store = createSessionStore(database);
  const sessions = createSessions({ ...parts, audit, store });
  const begin = (person: Person, browser: Browser) =>
    database.write((tx) => sessions.begin(tx, person, browser, null));
  const ada = { userId: 5, login: 'ada', email: 'ada@example.com' };
  await begin(ada, { userAgent: 'over', before: null, origin: commandLine });
  clock.advance(2 * dayMs);
  await begin(ada, { userAgent: 'good', before: null, origin: commandLine });

  const answered = createAnsweredComments(database);
  await database.write(async (tx) => {
    await answered.add(tx, 1, clock.nowMs() - 31 * dayMs);
    await answered.add(tx, 2, clock.nowMs() - 29 * dayMs);
  });

  await using _housekeeping = startHousekeeping({
    ...{ ...parts, sessions, audit, idempotency, logger: createLogger('silent') },
    // Swept by a timer, later than this test takes.
    runs: {} as Pick<Runs, 'recovery' | 'scheduler' | 'approvalJobs'>,
    retention: { sweep: async () => {} },
    deliveries: createDeliveryStore(database),
    replays: createReplayStore(database),
    outbox: createOutboxStore(database),
    answered,
    decisions: createDecisionStore(database, box, parts),
    samples: createSampleStore(database, box),
    notices: createNoticeStore(database),
    sweepCaches: async () => {},
    ...{ runsDays: 0, logsDays: 0, auditDays: 0 },
  });

  await vi.waitFor(async () =>
    expect((await store.listOf(5)).map(({ userAgent }) => userAgent)).toEqual(['good']),
  );
  await vi.waitFor(async () => expect([await answered.has(1), await answered.has(2)]).toEqual([false, true]));
});
