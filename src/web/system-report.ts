import type { RunState } from '../runs/run.ts';
import type { DoctorReport } from './health.ts';

/** What an operator looks at: how fit the server is, what waits and what is under way. app.ts finds it out. */
export interface SystemReport {
  readonly version: string;
  readonly startedAtMs: number;
  /** Of this machine; GitHub is not asked. */
  readonly doctor: DoctorReport;
  /** How many phases of runs can be under way at once. */
  readonly workers: number;
  readonly jobs: {
    readonly waiting: number;
    readonly running: number;
    readonly waitingSinceMs: number | null;
  };
  /** Those that are not over; a state without runs may be absent. */
  readonly runs: Readonly<Partial<Record<RunState, number>>>;
  readonly deliveries: {
    readonly pending: number;
    readonly due: number;
    readonly inFlight: number;
    readonly dueSinceMs: number | null;
  };
  /** What GitHub told, and is not handled yet or given up. */
  readonly inbox: {
    readonly pending: number;
    readonly failed: number;
    readonly pendingSinceMs: number | null;
  };
  /** What GitHub does not show yet as it should be. */
  readonly outboxWaiting: number;
}
