/**
 * What we believed about the App's installations when we last looked, so that the next look can tell what is
 * gone. Reads see committed data.
 */
export interface InstallationStore {
  /** Of the accounts that have the App installed, as far as we know. */
  installationIds(): Promise<readonly number[]>;
  /** The repositories that an installation sees, as far as we know. */
  repositoryIds(installationId: number): Promise<readonly number[]>;
}
