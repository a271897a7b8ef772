import { Octokit } from '@octokit/rest';
import { z } from 'zod';
import type { Logger } from '../logger.ts';
import type { Repository } from '../stacks/repository.ts';
import { UserError } from '../user-error.ts';
import type { GithubApp } from './github-app.ts';
import { statusOf } from './github-error.ts';

/** What one fetch gets: it can read the files of one repository, and nothing else. */
export interface FetchToken {
  readonly token: string;
  /** What the repository is called now; git is not let follow redirects from an old name. */
  readonly fullName: string;
}

export interface FetchTokens {
  /** Throws `source-unavailable` with what to do. */
  mint(repository: Repository, signal: AbortSignal): Promise<FetchToken>;
  /** Never rejects: what cannot be revoked expires within the hour. */
  revoke(token: string): Promise<void>;
}

const tokenJson = z.object({
  token: z.string().min(1),
  repositories: z.array(z.object({ id: z.number(), full_name: z.string() })).nullish(),
});

const revokeTimeoutMs = 5000;
/** Octokit would write to the console. */
const silent = { debug() {}, info() {}, warn() {}, error() {} };

export function createFetchTokens(parts: {
  app: Pick<GithubApp, 'asApp'>;
  apiUrl: string;
  logger: Logger;
}): FetchTokens {
  const { app, apiUrl, logger } = parts;

  return {
    async mint(repository, signal) {
      try {
        // Not `octokit.auth({type: 'installation'})`: that asks api.github.com whatever the base address is.
        const { rest } = await app.asApp();
        const answer = await rest.apps.createInstallationAccessToken({
          installation_id: repository.installationId,
          repository_ids: [repository.id],
          permissions: { contents: 'read' },
          request: { signal },
        });
        const { token, repositories } = tokenJson.parse(answer.data);
        const named = repositories?.find(({ id }) => id === repository.id);
        return { token, fullName: named?.full_name ?? repository.fullName };
      } catch (error) {
        signal.throwIfAborted();
        throw refusal(repository, error);
      }
    },

    async revoke(token) {
      try {
        // A client of its own: one of the App would put its own credentials in.
        const { rest } = new Octokit({ auth: token, baseUrl: apiUrl, log: silent });
        const signal = AbortSignal.timeout(revokeTimeoutMs);
        await rest.apps.revokeInstallationAccessToken({ request: { signal } });
      } catch (error) {
        logger.debug({ err: error }, 'a token could not be revoked, it expires by itself');
      }
    },
  };
}

function refusal({ fullName }: Repository, cause: unknown): UserError {
  const status = statusOf(cause);
  if (status === 403 || status === 404 || status === 422) {
    return new UserError('source-unavailable', `The GitHub App may not read ${fullName} any more.`, {
      hint: 'Check on GitHub that the App is installed there, not suspended, may read contents, and includes this repository.',
      cause,
    });
  }
  return new UserError('source-unavailable', `GitHub gave no token for ${fullName}.`, {
    hint: 'Retry the run; https://www.githubstatus.com tells whether GitHub has trouble.',
    cause,
  });
}
