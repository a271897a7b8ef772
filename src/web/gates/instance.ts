import type { MiddlewareHandler } from 'hono';
import type { Access } from '../../access/roles.ts';
import type { WebEnv } from '../api.ts';
import type { Operations } from '../operations.ts';
import { notFound } from '../problem.ts';

/**
 * What belongs to the instance is there for its administrators only. Before anything of the request is judged: what it
 * lacks is no business of others.
 */
export function instanceGate(
  operations: () => Operations,
  access: Pick<Access, 'isInstanceAdmin'>,
): MiddlewareHandler<WebEnv> {
  return async (c, next) => {
    const operation = operations().find(c.req.method, c.req.path);
    if (operation?.needs === 'instance' && !access.isInstanceAdmin(c.var.actor)) throw notFound();
    return next();
  };
}
