import { z } from 'zod';
import type { Memberships } from '../access/login.ts';
import { githubUnavailable } from './github-error.ts';

/** In a person's name, by the headers. */
export interface UserApi {
  readonly apiUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

const installationsJson = z.object({
  // An enterprise has a slug instead of a login; it owns no repositories.
  installations: z.array(z.object({ account: z.object({ login: z.string().optional() }).nullish() })),
});
const teamsJson = z.array(
  z.object({
    slug: z.string(),
    organization: z.object({ login: z.string() }),
    parent: z.object({ slug: z.string() }).nullish(),
  }),
);

const perPage = 100;
/** Nobody has more; what a policy is told must be all or nothing. */
const maxPages = 30;

/** What a person belongs to, with the token of their login. Throws `github-unavailable`. */
export async function readMemberships(api: UserApi): Promise<Memberships> {
  try {
    const [accounts, teams] = await Promise.all([accountsOf(api), teamsOf(api)]);
    return { accounts, teams };
  } catch (cause) {
    throw githubUnavailable('which accounts and teams are yours', cause);
  }
}

async function accountsOf(api: UserApi): Promise<readonly string[]> {
  const seen = await allPages(
    api,
    '/user/installations',
    (json) => installationsJson.parse(json).installations,
  );
  if (seen === 'not-allowed') throw new Error('GitHub does not tell a person their installations');
  return [...new Set(seen.flatMap(({ account }) => account?.login ?? []))];
}

/** Null where the App has no right to read the members of organisations. */
async function teamsOf(api: UserApi): Promise<readonly string[] | null> {
  const teams = await allPages(api, '/user/teams', (json) => teamsJson.parse(json));
  if (teams === 'not-allowed') return null;
  const names = teams.flatMap(({ slug, parent, organization: { login } }) =>
    [slug, ...(parent ? [parent.slug] : [])].map((each) => `${login}/${each}`),
  );
  return [...new Set(names)];
}

async function allPages<T>(
  { apiUrl, headers, timeoutMs }: UserApi,
  path: string,
  itemsOf: (json: unknown) => readonly T[],
): Promise<readonly T[] | 'not-allowed'> {
  const all: T[] = [];
  for (let page = 1; page <= maxPages; page += 1) {
    const url = `${apiUrl}${path}?per_page=${perPage}&page=${page}`;
    // A redirect would carry the token elsewhere.
    const answer = await fetch(url, { headers, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
    if (isNotAllowed(answer)) return 'not-allowed';
    if (!answer.ok) throw new Error(`GitHub answered ${answer.status}`);
    const items = itemsOf(await answer.json());
    all.push(...items);
    if (items.length < perPage) return all;
  }
  throw new Error(`more than ${maxPages} pages of ${path}`);
}

/** A limit of requests is a 403, too, and says nothing about rights. */
const isNotAllowed = ({ status, headers }: Response): boolean =>
  status === 403 && headers.get('retry-after') === null && headers.get('x-ratelimit-remaining') !== '0';
