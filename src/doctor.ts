import { statSync } from 'node:fs';
import type { EngineStanding } from './policies/engine.ts';
import type { SelfTestResult } from './sandbox/self-test.ts';
import type { Check, DoctorItem, DoctorReport, Health } from './web/health.ts';
import type { Vendor } from './worker/vendor.ts';

/** How fit this installation is, put into words: for /readyz in short, for `slipway doctor` at length. */
export interface Findings {
  readonly version: string;
  readonly git: string | null;
  readonly database: { readonly path: string; readonly problem: string | null };
  /** Where DATA_DIR lies. `floorBytes` 0: whatever is free is enough. */
  readonly disk: { readonly path: string; readonly freeBytes: number; readonly floorBytes: number };
  readonly sandbox: SelfTestResult;
  readonly vendors: readonly {
    readonly vendor: Vendor;
    readonly found: string | null;
    readonly used: boolean;
  }[];
  readonly policyEngine: EngineStanding;
  readonly githubConfigured: boolean;
}

/** What waits for GitHub or was given up, of the last 7 days. */
export interface Backlog {
  readonly nowMs: number;
  readonly inbox: {
    readonly pending: number;
    readonly pendingSinceMs: number | null;
    readonly failed: number;
  };
  readonly outbox: { readonly waiting: number; readonly givenUp: number };
}

export function healthOf(findings: Findings): Health {
  const checks = {
    database: databaseCheck(findings.database),
    disk: diskCheck(findings.disk),
    sandbox: sandboxCheck(findings.sandbox),
    tools: toolsCheck(findings),
  };
  const isReady = Object.values(checks).every(({ ok }) => ok) && findings.githubConfigured;
  return { status: isReady ? 'ready' : 'unready', checks };
}

function databaseCheck({ path, problem }: Findings['database']): Check {
  if (problem === null) return { ok: true, detail: path };
  return { ok: false, detail: problem, hint: 'See the log; the disk may be full or read-only.' };
}

function diskCheck({ path, freeBytes, floorBytes }: Findings['disk']): Check {
  const detail = `${sizeOf(freeBytes)} free in ${path}`;
  if (freeBytes >= floorBytes) return { ok: true, detail };
  return {
    ok: false,
    detail: `${detail}, MIN_FREE_DISK_MB wants ${sizeOf(floorBytes)}: no run begins`,
    hint: 'Make room, or discard runs that wait for a person: their workspaces are removed at once.',
  };
}

function sandboxCheck({ tier, version, items }: SelfTestResult): Check {
  const [first, ...rest] = items.filter(({ ok }) => !ok);
  if (first === undefined) {
    return { ok: true, detail: version === null ? tier : `bubblewrap ${version}, ${tier}` };
  }
  const more = rest.map(({ detail }) => detail);
  const hint = [...(first.fix === null ? [] : [first.fix]), ...more].join('\n');
  return { ok: false, detail: first.detail, ...(hint === '' ? {} : { hint }) };
}

/** A missing tool that no stack uses keeps nobody from working. */
function toolsCheck({ vendors, git }: Findings): Check {
  if (git === null) return { ok: false, detail: 'git was not found', hint: 'Install git.' };
  const missing = vendors.find(({ vendor, used }) => used && vendor.tool === null);
  if (missing)
    return { ok: false, detail: missing.vendor.toolProblem ?? `${missing.vendor.name} is missing` };
  const found = vendors.flatMap(({ vendor }) =>
    vendor.tool ? [`${vendor.name} ${vendor.tool.version}`] : [],
  );
  return { ok: true, detail: [`git ${git}`, ...found].join(', ') };
}

/** `github`: what GitHub said, when it was asked. */
export function doctorReport(
  findings: Findings,
  backlog: Backlog,
  github: readonly DoctorItem[] = [],
): DoctorReport {
  const { database, sandbox, vendors, git } = findings;
  const items: DoctorItem[] = [
    { name: 'slipway', status: 'ok', detail: findings.version },
    { name: 'node', status: 'ok', detail: process.versions.node },
    git === null
      ? { name: 'git', status: 'problem', detail: 'not found', hint: 'Install git.' }
      : { name: 'git', status: 'ok', detail: git },
    ...vendors.map((each) =>
      vendorItem(
        each,
        vendors.some(({ vendor }) => vendor.tool !== null),
      ),
    ),
    policyEngineItem(findings.policyEngine),
    ...sandboxItems(sandbox),
    ...sandbox.warnings.map(
      (warning): DoctorItem => ({ name: 'sandbox', status: 'warning', detail: warning }),
    ),
    {
      name: 'database',
      status: database.problem === null ? 'ok' : 'problem',
      detail: database.problem ?? `sqlite ${database.path}, ${databaseSizes(database.path)}`,
    },
    diskItem(findings.disk),
    findings.githubConfigured
      ? { name: 'github', status: 'ok', detail: 'the settings of the App are complete' }
      : {
          name: 'github',
          status: 'warning',
          detail: 'no settings of a GitHub App',
          hint: '`slipway setup` registers one; the server needs it to start.',
        },
    ...github,
    inboxItem(backlog),
    outboxItem(backlog),
  ];
  return { ok: items.every(({ status }) => status !== 'problem'), items };
}

/** Without any tool nothing can run; one that no stack uses may be missing. */
function vendorItem({ vendor, found, used }: Findings['vendors'][number], hasAny: boolean): DoctorItem {
  const { name, tool } = vendor;
  if (tool) return { name, status: 'ok', detail: `${tool.version}, ${tool.path} (from ${found ?? 'PATH'})` };
  if (!used && hasAny && found === null) {
    return { name, status: 'ok', detail: 'not installed; no stack uses it' };
  }
  return {
    name,
    status: used || !hasAny ? 'problem' : 'warning',
    detail: vendor.toolProblem ?? 'not found',
    hint: '`npm run setup` builds pulumi, and with `-- --with tofu` OpenTofu, where Go is installed.',
  };
}

/** A warning: without policies nobody misses it. */
function policyEngineItem(engine: EngineStanding): DoctorItem {
  if (engine.kind === 'ready') {
    return { name: 'policies', status: 'ok', detail: `${engine.engine}, ${engine.path}` };
  }
  const hint = 'Runs of stacks with policies are blocked until it is there.';
  return { name: 'policies', status: 'warning', detail: engine.reason, hint };
}

/** Each hole has a fix of its own. */
function sandboxItems(sandbox: SelfTestResult): DoctorItem[] {
  const failures = sandbox.items.filter(({ ok }) => !ok);
  if (failures.length === 0) {
    return [{ name: 'sandbox', status: 'ok', detail: sandboxCheck(sandbox).detail }];
  }
  return failures.map(({ detail, fix }) => ({
    ...{ name: 'sandbox', status: 'problem' as const, detail },
    ...(fix === null ? {} : { hint: fix }),
  }));
}

/** Longer than a burst takes, and than a GitHub that answers after the second retry. */
const patienceMs = 10 * 60_000;

function inboxItem({ inbox, nowMs }: Backlog): DoctorItem {
  const { pending, pendingSinceMs, failed } = inbox;
  const waitsMs = pendingSinceMs === null ? 0 : Math.max(nowMs - pendingSinceMs, 0);
  const oldest = pending === 0 ? '' : `, the oldest for ${Math.floor(waitsMs / 60_000)} min`;
  const detail = `${pending} pending${oldest}; ${failed} failed in the last 7 days`;
  if (failed > 0) {
    const hint = '`slipway inbox list --state failed` says why; `slipway inbox replay --failed` tries again.';
    return { name: 'inbox', status: 'warning', detail, hint };
  }
  if (waitsMs <= patienceMs) return { name: 'inbox', status: 'ok', detail };
  const hint = 'Does the server run? `slipway inbox list --state pending` says what each waits for.';
  return { name: 'inbox', status: 'warning', detail, hint };
}

function outboxItem({ outbox: { waiting, givenUp } }: Backlog): DoctorItem {
  const detail = `${waiting} pending; ${givenUp} given up in the last 7 days`;
  if (givenUp === 0) return { name: 'outbox to GitHub', status: 'ok', detail };
  const hint = 'The log of the server has "what GitHub should show is given up", with the answer of GitHub.';
  return { name: 'outbox to GitHub', status: 'warning', detail, hint };
}

function diskItem(disk: Findings['disk']): DoctorItem {
  const { ok, detail, hint } = diskCheck(disk);
  return { name: 'disk', status: ok ? 'ok' : 'problem', detail, ...(hint === undefined ? {} : { hint }) };
}

/** The log of writes (-wal) is taken over into the database now and then, and should stay at some megabytes. */
function databaseSizes(path: string): string {
  const bytesOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return `${sizeOf(bytesOf(path))}, log of writes ${sizeOf(bytesOf(`${path}-wal`))}`;
}

function sizeOf(bytes: number): string {
  const mebibytes = bytes / 1024 ** 2;
  if (mebibytes < 1) return `${(bytes / 1024).toFixed(0)} KiB`;
  return mebibytes < 1024 ? `${mebibytes.toFixed(1)} MiB` : `${(mebibytes / 1024).toFixed(1)} GiB`;
}
