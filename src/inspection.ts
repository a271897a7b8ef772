import { execa } from 'execa';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import { type Backlog, doctorReport, type Findings } from './doctor.ts';
import type { PolicyEngine } from './policies/engine.ts';
import type { SelfTestResult } from './sandbox/self-test.ts';
import { freeSpace } from './sandbox/watching/disk-use.ts';
import type { Stores } from './storage/stores.ts';
import type { SystemReport } from './web/system-report.ts';
import type { Vendor } from './worker/vendor.ts';

/** Looks at this installation as it is now; doctor.ts puts it into words. */
export interface Inspection {
  findings(): Promise<Findings>;
  backlog(): Promise<Backlog>;
  system(): Promise<SystemReport>;
}

/** How far back it is looked for what was given up; also how long deliveries can be replayed. */
const backlogMs = 7 * 24 * 60 * 60 * 1000;

export function createInspection(parts: {
  version: string;
  config: Config;
  stores: Stores;
  sandboxTest: () => Promise<SelfTestResult>;
  vendors: readonly { readonly vendor: Vendor; readonly foundIn: string | null }[];
  policyEngine: Pick<PolicyEngine, 'standing'>;
  clock: Clock;
}): Inspection {
  const { version, config, stores, sandboxTest, vendors, policyEngine, clock } = parts;
  const { database } = stores;
  const startedAtMs = clock.nowMs();

  const inspection: Inspection = {
    async findings() {
      const used = await stores.stacks.vendorNames();
      return {
        version,
        git: await gitVersion(config.tools.path),
        database: {
          path: config.databasePath,
          problem: await problemOf(() => database.write(async () => {})),
        },
        disk: {
          path: config.dataDir,
          freeBytes: await freeSpace(config.dataDir).catch(() => 0),
          floorBytes: config.minFreeBytes,
        },
        sandbox: await sandboxTest(),
        vendors: vendors.map(({ vendor, foundIn }) => ({
          vendor,
          found: foundIn,
          used: used.includes(vendor.name),
        })),
        policyEngine: await policyEngine.standing(),
        githubConfigured: config.github !== null,
      };
    },

    async backlog() {
      const nowMs = clock.nowMs();
      return {
        nowMs,
        inbox: await stores.inbox.standing(),
        outbox: await stores.outbox.standing(nowMs - backlogMs),
      };
    },

    async system() {
      const [findings, backlog, standing] = await Promise.all([
        inspection.findings(),
        inspection.backlog(),
        stores.standing.standing(clock.nowMs()),
      ]);
      const doctor = doctorReport(findings, backlog);
      return { version, startedAtMs, doctor, workers: config.workers, ...standing };
    },
  };
  return inspection;
}

async function gitVersion(path: string): Promise<string | null> {
  const options = { env: { PATH: path }, extendEnv: false, reject: false, timeout: 5000 } as const;
  const { stdout, failed } = await execa('git', ['--version'], options);
  return failed ? null : (/\d+(\.\d+)+/.exec(stdout)?.[0] ?? null);
}

async function problemOf(tryIt: () => Promise<void>): Promise<string | null> {
  try {
    await tryIt();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : 'it cannot be written';
  }
}
