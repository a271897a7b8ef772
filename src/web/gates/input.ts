import type { MiddlewareHandler } from 'hono';
import type { WebEnv } from '../api.ts';
import type { Operation, Operations } from '../operations.ts';
import { refuse } from '../problem.ts';
import { withJsonBody } from '../request-body.ts';

/** Lets through what can be read: known query parameters, and a body that is JSON where there may be one. */
export function inputGate(operations: () => Operations): MiddlewareHandler<WebEnv> {
  return async (c, next) => {
    const operation = operations().find(c.req.method, c.req.path);
    refuseUnknownParameters(operation, c.req.url);
    if (['POST', 'PUT', 'PATCH'].includes(c.req.method)) {
      const request = await withJsonBody(c.req.raw, operation?.needsBody ?? false);
      if (request instanceof Response) return request;
      c.req.raw = request;
    }
    return next();
  };
}

/** A misspelt filter must not show everything. */
function refuseUnknownParameters(operation: Operation | null, url: string): void {
  if (!operation) return;
  const names = [...new Set(new URL(url).searchParams.keys())];
  const unknown = names.filter((name) => !operation.takes('query', name));
  if (unknown.length === 0) return;
  refuse('invalid-input', {
    detail: `${unknown.join(', ')}: no such query parameter`,
    errors: unknown.map((path) => ({ path, message: 'no such query parameter' })),
  });
}
