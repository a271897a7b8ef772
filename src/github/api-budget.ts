import type { Clock } from '../clock.ts';
import { rateLimitMs, statusOf } from './github-error.ts';

/**
 * How much an installation may still ask of GitHub: what GitHub's answers say, and a pace of our own that stays below
 * the secondary limits, of which GitHub tells only once they are exceeded
 * (https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api). In memory: after a restart GitHub says it again.
 */
export interface ApiBudget {
  /** Until when nothing of the kind should be sent; 0 when it may be sent now. */
  pausedUntilMs(installationId: number, purpose: RequestPurpose): number;
  /** GitHub wants to be left alone. */
  pause(installationId: number, untilMs: number): void;
  /** For every request of an installation, however it ended. */
  record(installationId: number, exchange: ApiExchange): void;
  /** The clock was set back: what is remembered of times cannot be meant. */
  forget(): void;
  standing(): ApiTraffic;
}

/** `write` and `content` (what notifies people: comments, deployments) of the outbox; `background` can wait for longest. */
export type RequestPurpose = 'write' | 'content' | 'background';

export interface ApiExchange {
  readonly method: string;
  /** Octokit's template or the path. */
  readonly url: string;
  readonly headers: Readonly<Record<string, unknown>>;
  /** What Octokit threw; left out when the request was granted. */
  readonly error?: unknown;
}

export interface ApiTraffic {
  readonly installations: readonly InstallationBudget[];
  /** Requests since the start of this process. */
  readonly requests: Readonly<Record<RequestOutcome, number>>;
}

/** `limited`: GitHub wants to be left alone; `failed`: it did not answer, or not with what it should. */
type RequestOutcome = 'granted' | 'refused' | 'limited' | 'failed';

interface InstallationBudget {
  /** Of the primary limit, as GitHub said last; null before it did, and once its hour is over. */
  readonly limit: number | null;
  readonly remaining: number | null;
  readonly pausedUntilMs: number;
}

interface Ledger {
  pausedUntilMs: number;
  primary: { readonly limit: number; readonly remaining: number; readonly resetMs: number } | null;
  /** Requests of the last minute, and content of the last hour; oldest first. */
  points: Spending[];
  content: Spending[];
}
interface Spending {
  readonly atMs: number;
  readonly cost: number;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** GitHub's limits less a tenth: its minute does not begin with ours, and people's questions need room. */
const mostPoints = 810;
const mostContentOfMinute = 72;
const mostContentOfHour = 450;
const readPoints = 1;
const writePoints = 5;
/** What is left for questions that somebody waits for, as a part of the primary limit. */
const reserveOf: Record<RequestPurpose, number> = { write: 0.02, content: 0.02, background: 0.2 };

export function createApiBudget({ clock }: { clock: Clock }): ApiBudget {
  const ledgers = new Map<number, Ledger>();
  const requests: Record<RequestOutcome, number> = { granted: 0, refused: 0, limited: 0, failed: 0 };

  function ledgerOf(installationId: number): Ledger {
    const known = ledgers.get(installationId);
    if (known) return known;
    const ledger: Ledger = { pausedUntilMs: 0, primary: null, points: [], content: [] };
    ledgers.set(installationId, ledger);
    return ledger;
  }

  function pause(installationId: number, untilMs: number): void {
    const ledger = ledgerOf(installationId);
    ledger.pausedUntilMs = Math.max(ledger.pausedUntilMs, untilMs);
  }

  return {
    pausedUntilMs(installationId, purpose) {
      const ledger = ledgers.get(installationId);
      if (!ledger) return 0;
      const nowMs = clock.nowMs();
      const cost = purpose === 'background' ? readPoints : writePoints;
      const untilMs = Math.max(
        ledger.pausedUntilMs,
        untilReset(ledger.primary, reserveOf[purpose]),
        roomAtMs(ledger.points, minuteMs, mostPoints - cost, nowMs),
        purpose === 'content' ? roomAtMs(ledger.content, minuteMs, mostContentOfMinute - 1, nowMs) : 0,
        purpose === 'content' ? roomAtMs(ledger.content, hourMs, mostContentOfHour - 1, nowMs) : 0,
      );
      return untilMs > nowMs ? untilMs : 0;
    },

    pause,

    record(installationId, { method, url, headers, error }) {
      const ledger = ledgerOf(installationId);
      const atMs = clock.nowMs();
      const isRead = method === 'GET' || method === 'HEAD';
      ledger.points = recent(ledger.points, atMs - minuteMs);
      ledger.points.push({ atMs, cost: isRead ? readPoints : writePoints });
      if (method === 'POST' && isContent(url)) {
        ledger.content = recent(ledger.content, atMs - hourMs);
        ledger.content.push({ atMs, cost: 1 });
      }
      ledger.primary = primaryLimit(headers) ?? ledger.primary;
      const limitMs = error === undefined ? null : rateLimitMs(error, atMs);
      requests[outcomeOf(error, limitMs)] += 1;
      if (limitMs !== null) pause(installationId, atMs + Math.min(limitMs, hourMs));
    },

    forget: () => ledgers.clear(),

    standing: () => ({
      installations: [...ledgers.values()].map(({ primary, pausedUntilMs }) => {
        // An installation that is asked no more would be short of requests for ever.
        const known = primary !== null && primary.resetMs > clock.nowMs() ? primary : null;
        return { limit: known?.limit ?? null, remaining: known?.remaining ?? null, pausedUntilMs };
      }),
      requests: { ...requests },
    }),
  };
}

function outcomeOf(error: unknown, limitMs: number | null): RequestOutcome {
  if (error === undefined) return 'granted';
  if (limitMs !== null) return 'limited';
  const status = statusOf(error);
  // "Still the same", which Octokit throws.
  if (status === 304) return 'granted';
  return status !== null && status < 500 ? 'refused' : 'failed';
}

/** What is new and notifies people: check runs do not, nor does an edit. */
const isContent = (url: string): boolean => /\/(comments|reactions|deployments|statuses)(\/|$)/.test(url);

function recent(spendings: readonly Spending[], sinceMs: number): Spending[] {
  const first = spendings.findIndex(({ atMs }) => atMs > sinceMs);
  return first < 0 ? [] : spendings.slice(first);
}

/** When the window has room again: once enough of what was spent last has left it. 0: it has. */
function roomAtMs(spendings: readonly Spending[], windowMs: number, most: number, nowMs: number): number {
  let sum = 0;
  for (let index = spendings.length - 1; index >= 0; index -= 1) {
    const { atMs, cost } = spendings[index] as Spending;
    if (atMs <= nowMs - windowMs) return 0;
    sum += cost;
    if (sum > most) return atMs + windowMs;
  }
  return 0;
}

function untilReset(primary: Ledger['primary'], reserve: number): number {
  if (primary === null || primary.remaining > primary.limit * reserve) return 0;
  return primary.resetMs;
}

function primaryLimit(headers: ApiExchange['headers']): Ledger['primary'] {
  const number = (name: string) => Number(headers[`x-ratelimit-${name}`] ?? Number.NaN);
  const [limit, remaining, resetMs] = [number('limit'), number('remaining'), number('reset') * 1000];
  return limit > 0 && remaining >= 0 && resetMs > 0 ? { limit, remaining, resetMs } : null;
}
