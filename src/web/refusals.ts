import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { NewId } from '../ids.ts';
import type { Logger } from '../logger.ts';
import { UserError } from '../user-error.ts';
import type { Api, WebEnv } from './api.ts';
import type { Operations } from './operations.ts';
import { notFound, type Problem, problem, problemOf } from './problem.ts';
import type { BrowserSessions } from './ui/browser-session.ts';
import { problemPage } from './ui/error-page.ts';
import { type Frame, sendPage } from './ui/layout.ts';
import { wantsPage } from './wants-page.ts';

export interface RefusalParts {
  readonly operations: Operations;
  readonly logger: Logger;
  readonly newId: NewId;
  readonly browserSessions: Pick<BrowserSessions, 'of'>;
  readonly frameFor: (session: Frame['session']) => Frame;
}

/** Answers what no route answers, and what routes throw: people with a page, programs with a problem. */
export function addRefusals(app: Api, parts: RefusalParts): void {
  const { operations, logger, browserSessions, frameFor } = parts;

  let fullDiskToldMs = Number.NEGATIVE_INFINITY;
  /** Once in a while, not for each request: the log lies on that disk, too. */
  function tellOfFullDisk(error: UserError): void {
    if (performance.now() - fullDiskToldMs < 60_000) return;
    fullDiskToldMs = performance.now();
    logger.error({ err: error }, 'the disk is full: requests that would store something are refused');
  }

  app.notFound((c) => {
    const documented = operations.methodsOf(c.req.path);
    const methods = documented.length > 0 ? documented : routedMethods(app, c.req.path);
    if (methods.length === 0) return shown(c, problemOf(notFound()));
    const allow = methods.join(', ');
    return shown(
      c,
      problem('method-not-allowed', { detail: `Possible here: ${allow}.`, headers: { allow } }),
    );
  });

  app.onError((error, c) => shown(c, refusalOf(error, c)));

  function refusalOf(error: Error, c: Context<WebEnv>): Response {
    if (error instanceof UserError) {
      if (error.code === 'storage-full') tellOfFullDisk(error);
      return problemOf(error);
    }
    if (error instanceof HTTPException) {
      return error.res ?? problem('malformed-request', { detail: error.message });
    }
    const errorId = parts.newId();
    // The route, not the address: ids are enough to find the request, and queries may hold anything.
    logger.error({ err: error, errorId, method: c.req.method, path: c.req.path }, 'a request failed');
    return problem('internal-error', {
      detail: 'Something went wrong inside.',
      hint: `The log of the server has more under ${errorId}.`,
      extra: { errorId },
    });
  }

  async function shown(c: Context<WebEnv>, refusal: Response): Promise<Response> {
    if (c.env.actor || !wantsPage(c.req.raw)) return refusal;
    const { status, ...said } = (await refusal.json()) as Problem;
    for (const [name, value] of refusal.headers) {
      if (name !== 'content-type') c.header(name, value);
    }
    const page = problemPage({ status, ...said });
    return sendPage(c, frameFor(await sessionOf(c.req.raw)), page, status as ContentfulStatusCode);
  }

  /** What went wrong may be the very thing that sessions are read from. */
  async function sessionOf(request: Request): Promise<Frame['session']> {
    try {
      return await browserSessions.of(request);
    } catch {
      return null;
    }
  }
}

/** The methods of pages and forms, which the document does not have. */
function routedMethods(app: Api, path: string): string[] {
  return ['GET', 'POST'].filter((method) =>
    app.router.match(method, path)[0].some(([[, route]]) => route.method === method),
  );
}
