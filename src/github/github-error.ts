import { z } from 'zod';
import { UserError } from '../user-error.ts';

/** An HTTP answer that Octokit threw. By its shape: its class comes from a package that we do not depend on. */
const httpError = z.object({
  name: z.literal('HttpError'),
  status: z.number(),
  message: z.string().optional(),
  response: z.object({ headers: z.record(z.string(), z.unknown()) }).optional(),
});

/** The status of GitHub's answer; null when there was no answer (network, time limit) or it is no such error. */
export function statusOf(error: unknown): number | null {
  const parsed = httpError.safeParse(error);
  // Octokit makes up a 500 when there was no answer.
  return parsed.success && parsed.data.response ? parsed.data.status : null;
}

/** Of GitHub's answer; empty when there was none. */
export function headersOf(error: unknown): Readonly<Record<string, unknown>> {
  const parsed = httpError.safeParse(error);
  return (parsed.success && parsed.data.response?.headers) || {};
}

/** How long GitHub asks us to leave it alone; null when it does not. */
export function rateLimitMs(error: unknown, nowMs: number): number | null {
  const parsed = httpError.safeParse(error);
  if (!parsed.success || ![403, 429].includes(parsed.data.status)) return null;
  const header = (name: string) => parsed.data.response?.headers[name];
  const seconds = Number(header('retry-after') ?? Number.NaN);
  if (seconds >= 0) return seconds * 1000;
  if (String(header('x-ratelimit-remaining')) === '0') {
    const resetMs = Number(header('x-ratelimit-reset') ?? Number.NaN) * 1000;
    if (resetMs > 0) return Math.max(resetMs - nowMs, 0);
  }
  // GitHub's advice when it does not say: wait a minute at least.
  const isSecondary = /secondary rate limit|abuse detection/i.test(parsed.data.message ?? '');
  return parsed.data.status === 429 || isSecondary ? 60_000 : null;
}

/** What people see when GitHub does not answer a question that we cannot do without. */
export function githubUnavailable(question: string, cause: unknown): UserError {
  return new UserError('github-unavailable', `GitHub could not be asked ${question}.`, {
    hint: 'Try again in a moment; https://www.githubstatus.com tells whether GitHub has trouble.',
    cause,
  });
}
