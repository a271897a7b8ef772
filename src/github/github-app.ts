import { Probot, ProbotOctokit } from 'probot';
import type { Logger } from '../logger.ts';

/**
 * Our GitHub App as Probot runs it: authentication, clients, and events that are handed to `receive` by our
 * own inbox. Probot's HTTP server is not used: it has no body limit, drops events whose handler fails, and
 * logs cookies.
 */
export interface GithubApp extends Disposable {
  readonly probot: Probot;
  /** A client for what only the App itself may ask. */
  asApp(): Promise<ProbotOctokit>;
  /** A client with everything that the installation granted; its token lives in memory, at most an hour. */
  asInstallation(installationId: number): Promise<ProbotOctokit>;
  /** Aborts the requests under way; later ones fail at once. */
  [Symbol.dispose](): void;
}

export interface GithubAppSettings {
  readonly appId: number;
  readonly privateKey: string;
  readonly webhookSecret: string;
  readonly apiUrl: string;
}

const requestTimeoutMs = 20_000;

/**
 * Octokit's own retries repeat a POST whose answer was lost and would make a second check run; its
 * throttling keeps a queue in memory that a restart empties. The outbox does both jobs, durably.
 * A function: Probot sets `throttle` itself, which would put plain defaults out of force.
 */
const PlainOctokit = ProbotOctokit.defaults((options: object) => ({
  ...options,
  retry: { enabled: false },
  throttle: { enabled: false },
}));

export async function createGithubApp(settings: GithubAppSettings, logger: Logger): Promise<GithubApp> {
  // Probot's default secret is public.
  if (settings.webhookSecret === '') throw new Error('the GitHub App needs a webhook secret');
  const closing = new AbortController();
  const probot = new Probot({
    appId: settings.appId,
    privateKey: settings.privateKey,
    secret: settings.webhookSecret,
    baseUrl: settings.apiUrl,
    log: withoutDebug(logger),
    Octokit: PlainOctokit,
    request: { fetch: (url: string, init?: RequestInit) => fetchUntil(closing.signal, url, init) },
  });
  await probot.ready();
  return {
    probot,
    asApp: () => probot.auth(),
    asInstallation: (installationId) => probot.auth(installationId),
    [Symbol.dispose]: () => closing.abort(),
  };
}

/** Octokit by itself waits for ever. */
function fetchUntil(closing: AbortSignal, url: string, init: RequestInit = {}): Promise<Response> {
  const signals = [closing, AbortSignal.timeout(requestTimeoutMs)];
  if (init.signal) signals.push(init.signal);
  return fetch(url, { ...init, signal: AbortSignal.any(signals) });
}

/** Probot's debug lines carry whole payloads and request bodies. */
function withoutDebug(logger: Logger): Logger {
  const isChatty = logger.isLevelEnabled('debug');
  return logger.child({}, isChatty ? { level: 'info' } : {});
}
