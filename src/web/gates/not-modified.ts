import type { MiddlewareHandler } from 'hono';
import type { WebEnv } from '../api.ts';
import { isListed } from '../entity-tag.ts';

/** Answers 304 to whoever has what they ask for already, wherever an answer has an entity tag. */
export const notModifiedGate: MiddlewareHandler<WebEnv> = async (c, next) => {
  await next();
  const [wanted, etag] = [c.req.header('if-none-match'), c.res.headers.get('etag')];
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD') return;
  if (wanted === undefined || etag === null || !c.res.ok || !isListed(wanted, etag)) return;
  c.res = new Response(null, { status: 304, headers: { etag } });
};
