import { z } from 'zod';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { GithubApp } from './github-app.ts';

const appJson = z.object({ html_url: z.url({ protocol: /^https?$/ }) });

/** Who looks at a page does not wait for a GitHub that did not answer just now. */
const silenceMs = 60_000;

/** Where the App's own page on GitHub is: asked once, as only GitHub knows its short name. Null while it does not say. */
export function createAppPage(parts: {
  readonly app: Pick<GithubApp, 'asApp'>;
  readonly clock: Clock;
  readonly logger: Logger;
}): () => Promise<string | null> {
  const { app, clock, logger } = parts;
  let known: string | null = null;
  let askAgainMs = Number.NEGATIVE_INFINITY;

  return async () => {
    if (known !== null || clock.nowMs() < askAgainMs) return known;
    askAgainMs = clock.nowMs() + silenceMs;
    try {
      const { data } = await (await app.asApp()).request('GET /app');
      known = appJson.parse(data).html_url;
    } catch (error) {
      logger.warn({ err: error }, 'GitHub did not say where the page of the App is');
    }
    return known;
  };
}
