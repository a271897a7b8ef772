import { expect, test } from 'vitest';
import { type Backlog, doctorReport, type Findings, healthOf } from '../src/doctor.ts';
import { tempDatabase } from './support/temp-database.ts';

const nowMs = 1_795_000_000_000;
const wellFindings: Findings = {
  version: '0.1.0',
  git: '2.47.0',
  database: { path: '/nowhere/slipway.db', problem: null },
  disk: { path: '/nowhere', freeBytes: 2 ** 40, floorBytes: 2 ** 30 },
  sandbox: { ok: true, tier: 'full', version: '0.11.0', items: [], warnings: [] },
  vendors: [],
  policyEngine: { kind: 'ready', engine: 'opa 1.22.0', path: '/opt/opa' },
  githubConfigured: true,
};
const noBacklog: Backlog = {
  nowMs,
  inbox: { pending: 0, pendingSinceMs: null, failed: 0 },
  outbox: { waiting: 0, givenUp: 0 },
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
])('the doctor tells of the outbox: %o', (outbox, status, detail) => {
  const report = doctorReport(wellFindings, { ...noBacklog, outbox });

  expect(report.items.find(({ name }) => name === 'outbox to GitHub')).toMatchObject({ status, detail });
});

const vendorOf = (
  name: string,
  tool: { path: string; version: string } | null,
  used: boolean,
  found: string | null,
) => ({
  vendor: {
    name,
    tool,
    toolProblem: tool ? null : `${name} is not fit`,
  } as Findings['vendors'][number]['vendor'],
  ...{ used, found },
});
const present = vendorOf('pulumi', { path: '/opt/pulumi', version: '3.259.0' }, true, 'path');

test.each([
  ['that no stack uses is no problem', [present, vendorOf('terraform', null, false, null)], 'ok', true],
  [
    'that no stack uses, but that is there and unfit, is worth a warning',
    [present, vendorOf('terraform', null, false, 'path')],
    'warning',
    true,
  ],
  ['that a stack uses is a problem', [present, vendorOf('terraform', null, true, null)], 'problem', false],
  ['is a problem where there is no other', [vendorOf('terraform', null, false, null)], 'problem', true],
])('a missing tool %s', (_, vendors, status, isReady) => {
  const found = { ...wellFindings, vendors };
  const { items } = doctorReport(found, noBacklog);
  expect(items.find(({ name }) => name === 'terraform')).toMatchObject({ status });
  expect(healthOf(found).checks.tools.ok).toBe(isReady);
});

const gibibyte = 1024 ** 3;

function findings(path: string, freeBytes: number, floorBytes: number): Findings {
  return {
    ...{ version: '0.1.0', git: '2.43.0', vendors: [], githubConfigured: true },
    policyEngine: { kind: 'unavailable', reason: 'opa was not found' },
    database: { path, problem: null },
    disk: { path: '/data', freeBytes, floorBytes },
    sandbox: { ok: true, tier: 'root', version: '0.12.0', items: [], warnings: [] },
  };
}

test('shows what the database, its log of writes and the disk have', async () => {
  await using temp = tempDatabase();
  const { ok, items } = doctorReport(findings(temp.path, 12.34 * gibibyte, gibibyte), noBacklog);

  expect(ok).toBe(true);
  expect(items.find(({ name }) => name === 'database')?.detail).toMatch(
    /^sqlite \S+\.db, [\d.]+ [KM]iB, log of writes [\d.]+ [KM]iB$/,
  );
  expect(items.find(({ name }) => name === 'disk')).toEqual({
    ...{ name: 'disk', status: 'ok', detail: '12.3 GiB free in /data' },
  });
});

test('calls a server unready that has too little room, and says what to do', async () => {
  await using temp = tempDatabase();
  const short = findings(temp.path, 300 * 1024 ** 2, gibibyte);

  expect(healthOf(short)).toMatchObject({
    status: 'unready',
    checks: {
      database: { ok: true },
      disk: {
        ok: false,
        detail: '300.0 MiB free in /data, MIN_FREE_DISK_MB wants 1.0 GiB: no run begins',
        hint: expect.stringContaining('Make room'),
      },
    },
  });
  expect(doctorReport(short, noBacklog).ok).toBe(false);
  expect(healthOf(findings(temp.path, 0, 0)).status).toBe('ready');
});

test('each hole of the sandbox is a problem with its own fix; /readyz has all of it in one hint', () => {
  const failed = (name: string, fix: string | null) => ({ name, ok: false, detail: `${name} leaks.`, fix });
  const items = [
    { name: 'start', ok: true, detail: 'bubblewrap', fix: null },
    failed('files', 'Move DATA_DIR.\nThen start again.'),
    failed('loopback', null),
  ];
  const found = { ...wellFindings, sandbox: { ...wellFindings.sandbox, ok: false, items } };

  const report = doctorReport(found, noBacklog);
  expect(report.ok).toBe(false);
  expect(report.items.filter(({ name }) => name === 'sandbox')).toEqual([
    {
      ...{ name: 'sandbox', status: 'problem', detail: 'files leaks.' },
      hint: 'Move DATA_DIR.\nThen start again.',
    },
    { name: 'sandbox', status: 'problem', detail: 'loopback leaks.' },
  ]);
  expect(healthOf(found)).toMatchObject({
    status: 'unready',
    checks: {
      sandbox: {
        ok: false,
        detail: 'files leaks.',
        hint: 'Move DATA_DIR.\nThen start again.\nloopback leaks.',
      },
    },
  });
});
