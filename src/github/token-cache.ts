/** Where Octokit keeps the tokens of installations; in memory only. Its keys begin with the installation's id. */
export interface TokenCache {
  get(key: string): string | undefined;
  set(key: string, value: string): void;
  forget(installationId: number): void;
}

/** GitHub gives a token an hour. */
const keepMs = 59 * 60_000;

export function createTokenCache(): TokenCache {
  const kept = new Map<string, { readonly value: string; readonly sinceMs: number }>();
  return {
    get(key) {
      const found = kept.get(key);
      return found && performance.now() - found.sinceMs < keepMs ? found.value : undefined;
    },
    set(key, value) {
      kept.set(key, { value, sinceMs: performance.now() });
    },
    forget(installationId) {
      for (const key of kept.keys()) {
        if (key.split('|')[0] === String(installationId)) kept.delete(key);
      }
    },
  };
}
