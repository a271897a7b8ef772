import { HTTPException } from 'hono/http-exception';
import type { NewId } from '../ids.ts';
import type { Logger } from '../logger.ts';
import { UserError } from '../user-error.ts';
import type { Api } from './api.ts';
import type { Operations } from './operations.ts';
import { notFound, problem, problemOf } from './problem.ts';

/** Answers what no route answers, and what routes throw. */
export function addRefusals(
  app: Api,
  parts: { readonly operations: Operations; readonly logger: Logger; readonly newId: NewId },
): void {
  const { operations, logger } = parts;

  let fullDiskToldMs = Number.NEGATIVE_INFINITY;
  /** Once in a while, not for each request: the log lies on that disk, too. */
  function tellOfFullDisk(error: UserError): void {
    if (performance.now() - fullDiskToldMs < 60_000) return;
    fullDiskToldMs = performance.now();
    logger.error({ err: error }, 'the disk is full: requests that would store something are refused');
  }

  app.notFound((c) => {
    const methods = operations.methodsOf(c.req.path);
    if (methods.length === 0) return problemOf(notFound());
    const allow = methods.join(', ');
    return problem('method-not-allowed', { detail: `Possible here: ${allow}.`, headers: { allow } });
  });

  app.onError((error, c) => {
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
  });
}
