import type { MiddlewareHandler } from 'hono';
import { type AuditLog, type AuditResult, type AuditSubject, noSubject } from '../../access/audit-log.ts';
import type { Logger } from '../../logger.ts';
import type { WebEnv } from '../api.ts';
import type { SubjectOf } from '../audit-subject.ts';
import type { Operations } from '../operations.ts';
import { replayedHeader } from './idempotency.ts';

/**
 * Writes down every call that may change something: before it is carried out, so that nothing happens without a trace,
 * and its result after it. It goes by the document, so it holds for every route there is.
 */
export function auditGate(parts: {
  readonly operations: () => Operations;
  readonly audit: Pick<AuditLog, 'begin' | 'end'>;
  readonly subjectOf: SubjectOf;
  readonly logger: Logger;
}): MiddlewareHandler<WebEnv> {
  const { operations, audit, subjectOf, logger } = parts;

  /** What an answer says that it made. */
  async function madeBy({ headers, ok }: Response): Promise<AuditSubject> {
    const location = headers.get('location');
    const made = ok && location !== null ? operations().find('GET', location) : null;
    return made ? subjectOf(made) : noSubject;
  }

  return async (c, next) => {
    const operation = operations().find(c.req.method, c.req.path);
    if (!operation?.isAudited) return next();
    const { actor, origin } = c.var;
    const { name, params } = operation;
    const subject = await subjectOf(operation);
    const seq = await audit.begin({ actor, origin, operation: name, params, subject });
    await next();
    try {
      await audit.end(seq, resultOf(c.res), await madeBy(c.res));
    } catch (error) {
      // It is done; an answer that says otherwise would be wrong. The row says that its outcome is unknown.
      logger.error({ err: error, seq }, 'the outcome of a call could not be written to the audit log');
    }
  };
}

function resultOf({ status, headers }: Response): AuditResult {
  const outcome = status < 400 ? 'done' : status < 500 ? 'refused' : 'failed';
  return { outcome, status, note: headers.has(replayedHeader) ? 'answered as before' : null };
}
