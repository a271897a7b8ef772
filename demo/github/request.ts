/** Reading what a request carries: JSON bodies, paging, numbers in paths. */
import type { z } from 'zod';
import { ApiError, invalidRequest, notFound } from './api-error.ts';
import type { ApiContext } from './pipeline.ts';

/** The recorded body, held to the operation's schema; 422 names the field as GitHub roughly does. */
export function readBody<Schema extends z.ZodType>(c: ApiContext, schema: Schema): z.infer<Schema> {
  const { body } = c.get('recorded');
  if (typeof body === 'string') throw new ApiError(400, 'Problems parsing JSON');
  const parsed = schema.safeParse(body ?? {});
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalidRequest(`For '${issue?.path.join('/') ?? ''}', ${issue?.message ?? 'not valid'}.`);
}

export function idParam(c: ApiContext, name: string): number {
  const text = c.req.param(name) ?? '';
  if (!/^\d+$/.test(text)) throw notFound();
  return Number(text);
}

/** One page of a list (`per_page` 30, at most 100), with a Link header for the neighbours. */
export function pageOf<Item>(c: ApiContext, items: readonly Item[]): Item[] {
  const perPage = Math.min(Math.max(Number(c.req.query('per_page') ?? 30) || 30, 1), 100);
  const page = Math.max(Number(c.req.query('page') ?? 1) || 1, 1);
  const lastPage = Math.max(Math.ceil(items.length / perPage), 1);
  const link = (to: number, rel: string): string => {
    const url = new URL(c.req.url);
    url.searchParams.set('page', String(to));
    return `<${url}>; rel="${rel}"`;
  };
  const links: string[] = [];
  if (page > 1) links.push(link(page - 1, 'prev'), link(1, 'first'));
  if (page < lastPage) links.push(link(page + 1, 'next'), link(lastPage, 'last'));
  if (links.length > 0) c.header('link', links.join(', '));
  return items.slice((page - 1) * perPage, page * perPage);
}
