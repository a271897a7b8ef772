import type { RepositoryDirectory } from '../stacks/repository-store.ts';
import type { GithubApp } from './github-app.ts';
import { githubUnavailable, statusOf } from './github-error.ts';
import { installationJson, repositoryJson, toAccount, toRepository } from './github-json.ts';

/** The live answer to "is the App installed there, and what is it". Stores nothing. */
export function createRepositoryDirectory(
  app: Pick<GithubApp, 'asApp' | 'asInstallation'>,
): RepositoryDirectory {
  async function ask(owner: string, repo: string) {
    const asApp = await app.asApp();
    const found = await asApp.rest.apps.getRepoInstallation({ owner, repo });
    const installation = installationJson.parse(found.data);
    const account = toAccount(installation);
    if (!account || account.suspended) return null;
    const asInstallation = await app.asInstallation(installation.id);
    const { data } = await asInstallation.rest.repos.get({ owner, repo });
    const json = repositoryJson.parse(data);
    return { account, repository: { ...toRepository(json, installation.id), accountId: account.id } };
  }

  return {
    async lookUp(fullName) {
      const name = splitFullName(fullName);
      if (!name) return null;
      try {
        return await ask(name.owner, name.repo);
      } catch (error) {
        if (statusOf(error) === 404) return null;
        throw githubUnavailable(`about ${fullName}`, error);
      }
    },
  };
}

/** Null for what GitHub would never call a repository; `..` in a path would ask something else. */
export function splitFullName(fullName: string): { owner: string; repo: string } | null {
  const [, owner, repo] = /^([A-Za-z0-9_-]+)\/([A-Za-z0-9._-]+)$/.exec(fullName) ?? [];
  return owner && repo && repo !== '.' && repo !== '..' ? { owner, repo } : null;
}
