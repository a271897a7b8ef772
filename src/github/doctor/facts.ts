import { z } from 'zod';
import type { Clock } from '../../clock.ts';
import type { GithubApp } from '../github-app.ts';
import { rateLimitMs, statusOf } from '../github-error.ts';
import { proofs } from './needs.ts';

/** What GitHub says about our App and its installations, unjudged. */
export interface GithubFacts {
  readonly nowMs: number;
  /** GitHub's clock minus ours, to a second; null when it could not be seen. */
  readonly clockSkewMs: number | null;
  readonly app: AppFacts | Failure;
  readonly hook: HookFacts | Failure;
  /** The newest first. */
  readonly deliveries: readonly DeliveryFacts[] | Failure;
  readonly installations: readonly InstallationFacts[] | Failure;
}

/** A question that was not answered. `status` null: nobody answered at all. */
export interface Failure {
  readonly failed: string;
  readonly status: number | null;
}

export type Granted = Readonly<Record<string, string>>;

const granted = z.record(z.string(), z.string().optional()).transform((record): Granted => {
  return Object.fromEntries(
    Object.entries(record).flatMap(([name, level]) => (level ? [[name, level]] : [])),
  );
});

const appJson = z.object({
  slug: z.string(),
  name: z.string(),
  html_url: z.string(),
  owner: z.object({ login: z.string().optional(), type: z.string().optional() }).nullish(),
  permissions: granted,
  events: z.array(z.string()),
});
export type AppFacts = z.output<typeof appJson>;

const hookJson = z.object({
  url: z.string().nullish(),
  content_type: z.string().nullish(),
  /** Stars when there is one. */
  secret: z.string().nullish(),
  insecure_ssl: z.union([z.string(), z.number()]).nullish().transform(String),
});
export type HookFacts = z.output<typeof hookJson>;

const deliveryJson = z.object({
  delivered_at: z.string(),
  status: z.string(),
  status_code: z.number(),
  event: z.string(),
  action: z.string().nullish(),
});
export type DeliveryFacts = z.output<typeof deliveryJson>;

const installationJson = z.object({
  id: z.number().int(),
  account: z.object({ login: z.string().optional(), slug: z.string().optional() }).nullish(),
  html_url: z.string(),
  permissions: granted,
  events: z.array(z.string()),
  repository_selection: z.string(),
  suspended_at: z.string().nullish(),
});

export type InstallationFacts = z.output<typeof installationJson> & {
  /** Null when suspended, or not looked at. */
  readonly repositories: RepositoryFacts | Failure | null;
};

export interface RepositoryFacts {
  readonly count: number;
  /** Whose permissions were tried; null without a private one. */
  readonly tried: string | null;
  /** Permissions that were granted and do not suffice to read. */
  readonly refused: readonly string[];
}

const repositoriesJson = z.object({
  total_count: z.number().int(),
  repositories: z.array(
    z.object({ full_name: z.string(), private: z.boolean(), default_branch: z.string() }),
  ),
});

/** Beyond that the grants have to do: each costs some seven requests. */
const mostTried = 20;
const newest = 30;

export async function askGithub(parts: {
  readonly app: Pick<GithubApp, 'asApp' | 'asInstallation'>;
  /** What is tried of them. */
  readonly permissions: readonly string[];
  readonly clock: Clock;
}): Promise<GithubFacts> {
  const { app, permissions, clock } = parts;
  const octokit = await app.asApp();
  let clockSkewMs: number | null = null;
  const sawDate = (date: string | undefined, startedMs: number) => {
    const theirs = Date.parse(date ?? '');
    // Its second may be nearly over.
    if (!Number.isNaN(theirs)) clockSkewMs = theirs + 500 - (startedMs + clock.nowMs()) / 2;
  };

  const startedMs = clock.nowMs();
  const own = await asked(async () => {
    try {
      const { data, headers } = await octokit.request('GET /app');
      sawDate(headers.date, startedMs);
      return appJson.parse(data);
    } catch (error) {
      const response = answered.safeParse(error);
      if (response.success) sawDate(response.data.response.headers.date, startedMs);
      throw error;
    }
  });
  const rest = 'failed' in own ? { hook: own, deliveries: own, installations: own } : await others();
  return { nowMs: clock.nowMs(), clockSkewMs, app: own, ...rest };

  async function others() {
    return {
      hook: await asked(async () => hookJson.parse((await octokit.request('GET /app/hook/config')).data)),
      deliveries: await asked(async () => {
        const { data } = await octokit.request('GET /app/hook/deliveries', { per_page: newest });
        return z.array(deliveryJson).parse(data);
      }),
      installations: await asked(installations),
    };
  }

  async function installations(): Promise<readonly InstallationFacts[]> {
    const found = await octokit.paginate(octokit.rest.apps.listInstallations, { per_page: 100 });
    const facts: InstallationFacts[] = [];
    for (const [index, json] of found.entries()) {
      const installation = installationJson.parse(json);
      const isTried = !installation.suspended_at && index < mostTried;
      facts.push({ ...installation, repositories: isTried ? await asked(() => tried(installation)) : null });
    }
    return facts;
  }

  async function tried(installation: z.output<typeof installationJson>): Promise<RepositoryFacts> {
    const client = await app.asInstallation(installation.id);
    const { data } = await client.request('GET /installation/repositories', { per_page: 100 });
    const { total_count: count, repositories } = repositoriesJson.parse(data);
    // Anybody may read a public one.
    const subject = repositories.find((repository) => repository.private);
    if (!subject) return { count, tried: null, refused: [] };
    const refused: string[] = [];
    for (const permission of permissions.filter((name) => name in installation.permissions)) {
      const question = proofs[permission]?.replace('{ref}', encodeURIComponent(subject.default_branch));
      if (question === undefined) continue;
      const answer = await asked(() => client.request(`GET /repos/${subject.full_name}${question}`));
      // Anything else says nothing about permissions: an empty repository has no commits to list.
      if ('failed' in answer && answer.status === 403) refused.push(permission);
    }
    return { count, tried: subject.full_name, refused };
  }
}

const answered = z.object({ response: z.object({ headers: z.object({ date: z.string().optional() }) }) });

async function asked<T>(question: () => Promise<T>): Promise<T | Failure> {
  try {
    return await question();
  } catch (error) {
    if (error instanceof z.ZodError) return { failed: 'the answer is not as expected', status: null };
    // Limits come as 403 as well, and say nothing about permissions.
    const status = rateLimitMs(error, 0) === null ? statusOf(error) : 429;
    const message = error instanceof Error ? error.message : String(error);
    return { failed: message.replace(/ - https?:\S+$/, '').slice(0, 300), status };
  }
}
