/** How fit the server is, as /readyz and `slipway doctor` tell it. app.ts finds it out. */
export interface Health {
  readonly status: 'ready' | 'unready';
  readonly checks: Readonly<Record<HealthCheckName, Check>>;
}

export const healthCheckNames = ['database', 'disk', 'sandbox', 'tools'] as const;
export type HealthCheckName = (typeof healthCheckNames)[number];

export interface Check {
  readonly ok: boolean;
  /** One line: what was found. */
  readonly detail: string;
  /** What to do about it. */
  readonly hint?: string;
}

/** Everything an operator wants to know before the first run; needs no GitHub setting. */
export interface DoctorReport {
  /** False when something is missing without which no run can be executed. */
  readonly ok: boolean;
  readonly items: readonly DoctorItem[];
}

export interface DoctorItem {
  /** "slipway", "node", "git", "pulumi", "sandbox", "database", ... */
  readonly name: string;
  /** `warning`: works, but not as well or as safely as it could, or a setting is still to be made. */
  readonly status: 'ok' | 'warning' | 'problem';
  /** Version, path, size, tier: what was found. */
  readonly detail: string;
  readonly hint?: string;
}
