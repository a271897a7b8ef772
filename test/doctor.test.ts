import { expect, test } from 'vitest';
import { type Backlog, doctorReport, type Findings } from '../src/doctor.ts';

const nowMs = 1_795_000_000_000;
const wellFindings: Findings = {
  version: '0.1.0',
  git: '2.47.0',
  database: { path: '/nowhere/slipway.db', problem: null },
  disk: { path: '/nowhere', freeBytes: 2 ** 40, floorBytes: 2 ** 30 },
  sandbox: { ok: true, tier: 'full', version: '0.11.0', failures: [], warnings: [] },
  vendors: [],
  githubConfigured: true,
};
const noBacklog: Backlog = {
  nowMs,
  inbox: { pending: 0, pendingSinceMs: null, failed: 0 },
  checkRuns: { waiting: 0, givenUp: 0 },
};

test.each([
  ['empty', { pending: 0, pendingSinceMs: null, failed: 0 }, 'ok', '0 pending; 0 failed'],
  ['busy', { pending: 3, pendingSinceMs: nowMs - 90_000, failed: 0 }, 'ok', 'the oldest for 1 min'],
  ['stuck', { pending: 3, pendingSinceMs: nowMs - 660_000, failed: 0 }, 'warning', 'the oldest for 11 min'],
  ['ahead of the clock', { pending: 1, pendingSinceMs: nowMs + 5000, failed: 0 }, 'ok', 'for 0 min'],
  ['failing', { pending: 0, pendingSinceMs: null, failed: 2 }, 'warning', '2 failed'],
])('the doctor tells an inbox that is %s', (_, inbox, status, detail) => {
  const report = doctorReport(wellFindings, { ...noBacklog, inbox });

  const item = report.items.find(({ name }) => name === 'inbox');
  expect(item).toMatchObject({ status, detail: expect.stringContaining(detail) });
  // It keeps no run from being executed.
  expect(report.ok).toBe(true);
});

test.each([
  [{ waiting: 4, givenUp: 0 }, 'ok', '4 pending; 0 given up in the last 7 days'],
  [{ waiting: 0, givenUp: 2 }, 'warning', '0 pending; 2 given up in the last 7 days'],
])('the doctor tells of check runs: %o', (checkRuns, status, detail) => {
  const report = doctorReport(wellFindings, { ...noBacklog, checkRuns });

  expect(report.items.find(({ name }) => name === 'check runs')).toMatchObject({ status, detail });
});
