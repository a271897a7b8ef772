/** One line of `slipway doctor --github`. */
export interface GithubFinding {
  readonly name: string;
  readonly status: 'ok' | 'warning' | 'problem';
  readonly detail: string;
  readonly hint?: string;
}

/** Where an owner changes the App. */
export interface SettingsPages {
  readonly general: string;
  readonly permissions: string;
  readonly advanced: string;
}
