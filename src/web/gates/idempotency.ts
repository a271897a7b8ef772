import type { MiddlewareHandler } from 'hono';
import { type Actor, roles } from '../../access/actor.ts';
import type { Idempotency, KeptAnswer, Settle } from '../../access/idempotency.ts';
import type { Logger } from '../../logger.ts';
import type { Guard } from '../api/guard.ts';
import type { PolicyGuard } from '../api/policy-guard.ts';
import type { WebEnv } from '../api.ts';
import type { Operation, Operations } from '../operations.ts';
import { refuse } from '../problem.ts';

const keyName = 'idempotency-key';
/** On an answer that was given before: nothing was done for it. */
export const replayedHeader = 'idempotency-replayed';
const keptHeaders = ['content-type', 'location', 'etag'] as const;

/**
 * Of equal requests with the same Idempotency-Key one is carried out, and all get its answer: where the document has
 * that header, which is where something is made. The answer is given to nobody else, and only while they still have the
 * rights that the first one took: it may tell a secret.
 */
export function idempotencyGate(parts: {
  readonly operations: () => Operations;
  readonly idempotency: Pick<Idempotency, 'begin'>;
  readonly guard: Pick<Guard, 'stack' | 'run'>;
  readonly policyGuard: Pick<PolicyGuard, 'managed'>;
  readonly logger: Logger;
}): MiddlewareHandler<WebEnv> {
  const { operations, idempotency, guard, policyGuard, logger } = parts;

  return async (c, next) => {
    const key = c.req.header(keyName);
    const operation = operations().find(c.req.method, c.req.path);
    if (key === undefined || !operation?.takes('header', keyName)) return next();
    requireKey(key);
    const body = await c.req.raw.clone().text();
    const request = { method: c.req.method, path: c.req.path, body };
    const begun = await idempotency.begin(c.var.actor, key, request);
    switch (begun.kind) {
      case 'answered':
        await requireStill(c.var.actor, operation, begun.answer);
        return replayed(begun.answer);
      case 'reused':
        return refuse('idempotency-key-reused', {
          detail: 'The Idempotency-Key was sent with another request before.',
          hint: 'Use a new key for a new request.',
        });
      case 'in-use':
        return refuse('idempotency-key-in-use', {
          detail: 'The same request is being carried out, or nobody knows what came of it.',
          hint: 'Try again in a moment. If it stays so, look whether it was made, and use a new key if not.',
        });
      case 'first':
        await next();
        return keep(c.res, begun.settle);
    }
  };

  /** What belongs to the instance was asked for by its own gate. Throws `not-found` and `forbidden`. */
  async function requireStill(actor: Actor, operation: Operation, { headers }: KeptAnswer): Promise<void> {
    const needed = roles.find((role) => role === operation.needs);
    if (operation.needs === 'account-admin') {
      const policy = operations().find('GET', headers['location'] ?? '');
      await policyGuard.managed(actor, policy?.params['policy'] ?? '');
    }
    if (needed === undefined) return;
    const { run } = operation.params;
    if (run !== undefined) {
      await guard.run(actor, run, needed);
      return;
    }
    const isOfStack = 'stack' in operation.params;
    const made = isOfStack ? operation : operations().find('GET', headers['location'] ?? '');
    const { account = '', stack = '' } = made?.params ?? {};
    await guard.stack(actor, { account, stack }, needed);
  }

  async function keep(answer: Response, settle: Settle): Promise<void> {
    try {
      await settle(await resultOf(answer));
    } catch (error) {
      // It is done; the key says that its outcome is unknown.
      logger.error({ err: error }, 'the answer for an Idempotency-Key could not be kept');
    }
  }
}

function requireKey(key: string): void {
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return;
  const message = 'must have 1 to 255 characters of ASCII, without blanks';
  refuse('invalid-input', { detail: `${keyName}: ${message}`, errors: [{ path: keyName, message }] });
}

/** Of refusals nothing is kept: they did nothing, and the reason may be gone the next time. */
async function resultOf(answer: Response): Promise<Parameters<Settle>[0]> {
  if (answer.status === 500) return 'unknown';
  if (!answer.ok) return 'forget';
  const headers = keptHeaders.flatMap((name) => {
    const value = answer.headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  const body = await answer.clone().text();
  return { status: answer.status, headers: Object.fromEntries(headers), body };
}

function replayed({ status, headers, body }: KeptAnswer): Response {
  return new Response(body, { status, headers: { ...headers, [replayedHeader]: 'true' } });
}
