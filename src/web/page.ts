import { z } from '@hono/zod-openapi';
import { UserError } from '../user-error.ts';

/** Lists are `{items, nextCursor}`; a cursor says where the next page begins and nothing that callers may rely on. */
export const pageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(200).default(50).openapi({ description: 'Entries of a page.' }),
  cursor: z.string().max(200).optional().openapi({ description: '`nextCursor` of the page before.' }),
});

/** For lists that are short by nature: whoever reads all lists alike may ask for a page and gets the whole. */
export const wholeListQuery = z.object({
  limit: pageQuery.shape.limit.openapi({ description: 'The list is given whole, whatever this says.' }),
  cursor: z.literal('').optional().openapi({ description: 'There is one page only.' }),
});

export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable() });
}

export const encodeCursor = (position: string): string => Buffer.from(position).toString('base64url');

/** Null for no cursor. Throws `invalid-input` for one that no page of ours has given. */
export function decodeCursor(cursor: string | undefined, valid: RegExp, path = 'cursor'): string | null {
  if (cursor === undefined || cursor === '') return null;
  const position = Buffer.from(cursor, 'base64url').toString();
  if (valid.test(position) && encodeCursor(position) === cursor) return position;
  const issues = [{ path, message: 'not a cursor of this list' }];
  throw new UserError('invalid-input', `${path}: not a cursor of this list`, { issues });
}

/** What ids look like: ULID. */
export const idPattern = /^[0-9A-Z]{26}$/;

/** A look at more rows than so many for one page ends the page early; its cursor still leads on. */
const maxReads = 20;
const maxRowsOfRead = 1000;

/**
 * One page of what the actor may see. Rights are asked of GitHub, not of the database, so rows are read until
 * the page is full; `nextCursor` is null only at the end of the list.
 */
export async function visiblePage<T, V>(options: {
  readonly limit: number;
  readonly after: string | null;
  readonly read: (after: string | null, limit: number) => Promise<readonly T[]>;
  readonly positionOf: (row: T) => string;
  /** Null: not for this actor. `following`: what it may be asked for next. */
  readonly show: (row: T, following: readonly T[]) => Promise<V | null>;
  /** True: this is all that may be looked at for one page. It ends early, and leads on. */
  readonly isSpent?: () => boolean;
  /** Makes cursors of positions that would tell something. */
  readonly encode?: (position: string) => string;
}): Promise<{ items: V[]; nextCursor: string | null }> {
  const items: V[] = [];
  let position = options.after;
  const cursor = () => (position === null ? null : (options.encode ?? encodeCursor)(position));
  for (let reads = 0; reads < maxReads; reads += 1) {
    // One more than fits: a page that ends exactly at the end has no next one. Where much is left out, more at once.
    const count = Math.min((options.limit + 1) * 2 ** reads, maxRowsOfRead);
    const rows = await options.read(position, count);
    for (const [index, row] of rows.entries()) {
      const isOver = items.length === options.limit || options.isSpent?.();
      if (isOver) return { items, nextCursor: cursor() };
      const shown = await options.show(row, rows.slice(index + 1));
      if (shown !== null) items.push(shown);
      position = options.positionOf(row);
    }
    if (rows.length < count) return { items, nextCursor: null };
  }
  return { items, nextCursor: cursor() };
}
