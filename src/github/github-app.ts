import { Probot, ProbotOctokit } from 'probot';
import type { Logger } from '../logger.ts';
import type { ApiBudget } from './api-budget.ts';
import { headersOf, statusOf } from './github-error.ts';
import { createTokenCache, type TokenCache } from './token-cache.ts';

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
  /** What it was granted has changed: the next request asks for another token. */
  forgetToken(installationId: number): void;
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
const plainOctokit = (tokens: TokenCache) =>
  ProbotOctokit.defaults((options: { readonly auth?: object }) => ({
    ...options,
    auth: { ...options.auth, cache: tokens },
    retry: { enabled: false },
    throttle: { enabled: false },
  }));

export async function createGithubApp(
  settings: GithubAppSettings,
  budget: Pick<ApiBudget, 'record'>,
  logger: Logger,
): Promise<GithubApp> {
  // Probot's default secret is public.
  if (settings.webhookSecret === '') throw new Error('the GitHub App needs a webhook secret');
  const closing = new AbortController();
  const tokens = createTokenCache();
  const probot = new Probot({
    appId: settings.appId,
    privateKey: settings.privateKey,
    secret: settings.webhookSecret,
    baseUrl: settings.apiUrl,
    log: withoutDebug(logger),
    Octokit: plainOctokit(tokens),
    request: { fetch: (url: string, init?: RequestInit) => fetchUntil(closing.signal, url, init) },
  });
  await probot.ready();
  return {
    probot,
    asApp: () => probot.auth(),
    async asInstallation(installationId) {
      const octokit = await probot.auth(installationId);
      renewTokens(octokit, () => tokens.forget(installationId));
      keepAccount(octokit, installationId, budget);
      return octokit;
    },
    forgetToken: (installationId) => tokens.forget(installationId),
    [Symbol.dispose]: () => closing.abort(),
  };
}

/**
 * A token can be void before its time: the App was suspended meanwhile, or somebody revoked it. Then another is
 * asked for, once. Safe for every request: one that was answered 401 was not performed.
 */
function renewTokens(octokit: ProbotOctokit, forgetToken: () => void): void {
  octokit.hook.wrap('request', async (request, options) => {
    try {
      return await request(options);
    } catch (error) {
      // Those about the App itself are not made with a token; the one that asks for a token is among them.
      if (statusOf(error) !== 401 || options.url.includes('/app/')) throw error;
      forgetToken();
      return request(options);
    }
  });
}

/** Of every request, whoever makes it and however it ends. */
function keepAccount(
  octokit: ProbotOctokit,
  installationId: number,
  budget: Pick<ApiBudget, 'record'>,
): void {
  octokit.hook.wrap('request', async (request, { method, url, ...options }) => {
    try {
      const answer = await request({ method, url, ...options });
      budget.record(installationId, { method, url, headers: answer.headers });
      return answer;
    } catch (error) {
      budget.record(installationId, { method, url, headers: headersOf(error), error });
      throw error;
    }
  });
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
