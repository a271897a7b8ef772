import { createRoute, z } from '@hono/zod-openapi';
import type { Actor } from '../../access/actor.ts';
import { hasGrantIn } from '../../access/grants.ts';
import type { Access } from '../../access/roles.ts';
import type { Account } from '../../stacks/repository.ts';
import type { RepositoryStore } from '../../stacks/repository-store.ts';
import { type Api, newApi } from '../api.ts';
import { pageOf, pageQuery } from '../page.ts';
import { type CursorBox, sealedCursors } from '../sealed-cursor.ts';
import { onlyAccountOf } from './guard.ts';
import { json, needs, problems } from './route-parts.ts';
import { askedAtOnce, maxAsked } from './stack-roles.ts';

export const accountSchema = z
  .object({
    id: z.number().int().openapi({ description: "GitHub's." }),
    account: z.string().openapi({ description: 'Login of the person or organisation.' }),
    state: z.enum(['installed', 'suspended', 'removed']).openapi({
      description: 'Of the App there. Nothing runs where it is suspended or removed.',
    }),
    installationId: z.number().int().nullable(),
  })
  .openapi('Account', {
    example: { id: 9919, account: 'acme', state: 'installed', installationId: 51_234_567 },
  });

const listRoute = createRoute({
  method: 'get',
  path: '/api/v1/accounts',
  operationId: 'listAccounts',
  tags: ['access'],
  summary: 'Accounts that the App is or was installed in, and that have something for you',
  ...needs('any'),
  description:
    'A token sees its account or all. A person sees their own account and those with a repository that they have a ' +
    'role in, as far as the App can ask GitHub there; a page may have fewer entries than fit.',
  request: { query: pageQuery },
  responses: { 200: json(pageOf(accountSchema), 'A page of accounts.'), ...problems },
});

export const appSchema = z
  .object({
    url: z
      .string()
      .nullable()
      .openapi({ description: 'Page of the App on GitHub; null: GitHub did not say.' }),
    installUrl: z.string().nullable().openapi({ description: 'Where it is installed in a further account.' }),
  })
  .openapi('App', {
    example: {
      url: 'https://github.com/apps/acme-slipway',
      installUrl: 'https://github.com/apps/acme-slipway/installations/new',
    },
  });

const appRoute = createRoute({
  method: 'get',
  path: '/api/v1/app',
  operationId: 'getApp',
  tags: ['access'],
  summary: 'Where the GitHub App of this server is on GitHub',
  ...needs('any'),
  responses: { 200: json(appSchema, 'The App.'), ...problems },
});

export interface AccountRouteParts {
  readonly access: Access;
  readonly repositories: Pick<RepositoryStore, 'list' | 'listAccounts'>;
  /** Address of the App's page on GitHub; null while GitHub does not say. */
  readonly appPage: () => Promise<string | null>;
  readonly cursorBox: CursorBox;
}

/** The account before, and of the next one the repository up to which GitHub was asked. */
const positionPattern = /^\d{1,16}\.\d{1,16}$/;

export function accountRoutes({ access, repositories, appPage, cursorBox }: AccountRouteParts): Api {
  const api = newApi();
  // GitHub tells anybody whose an id is.
  const cursors = sealedCursors(cursorBox, 'accounts');
  const next = (before: number, askedUpTo: number): string => cursors.encode(`${before}.${askedUpTo}`);

  api.openapi(listRoute, async (c) => {
    const { limit, cursor } = c.req.valid('query');
    const { actor } = c.var;
    let [before = 0, askedUpTo = 0] = (cursors.decode(cursor, positionPattern) ?? '0.0')
      .split('.')
      .map(Number);
    const login = onlyAccountOf(actor);
    const rows = await repositories.listAccounts({ login, after: before, limit: limit + 1 });
    const look = createLook(actor);
    const items: z.infer<typeof accountSchema>[] = [];
    for (const row of rows.slice(0, limit)) {
      const found = await look(row, askedUpTo);
      if (typeof found === 'number') return c.json({ items, nextCursor: next(before, found) }, 200);
      if (found === 'visible') items.push(accountObject(row));
      [before, askedUpTo] = [row.id, 0];
    }
    return c.json({ items, nextCursor: rows.length > limit ? next(before, 0) : null }, 200);
  });

  /** A number: no more questions for this answer; it goes on behind that repository. */
  function createLook(actor: Actor) {
    let asked = 0;
    return async (account: Account, askedUpTo: number): Promise<'visible' | 'hidden' | number> => {
      if (isKnown(actor, account)) return 'visible';
      for (let after = askedUpTo; ; ) {
        if (asked >= maxAsked) return after;
        const some = await repositories.list({ account: account.login, after, limit: askedAtOnce });
        const roles = await Promise.all(some.map((place) => access.require(actor, place, 'reader')));
        if (roles.some((role) => role !== null)) return 'visible';
        const last = some.at(-1);
        if (last === undefined || some.length < askedAtOnce) return 'hidden';
        asked += some.length;
        after = last.repository.id;
      }
    };
  }

  /** Without asking about repositories, and so where the App cannot ask, too. Tokens of an account read no other. */
  const isKnown = (actor: Actor, { id, login }: Account): boolean =>
    actor.kind !== 'person' ||
    actor.userId === id ||
    hasGrantIn(actor, login) ||
    access.isInstanceAdmin(actor);

  api.openapi(appRoute, async (c) => {
    const url = await appPage();
    return c.json({ url, installUrl: url === null ? null : `${url}/installations/new` }, 200);
  });

  return api;
}

function accountObject({ id, login, installationId, suspended }: Account): z.infer<typeof accountSchema> {
  const state = installationId === null ? 'removed' : suspended ? 'suspended' : 'installed';
  return { id, account: login, state, installationId };
}
