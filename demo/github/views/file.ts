import type { FileChange } from '../git/diff.ts';
import type { GithubState, Repository } from '../state.ts';
import { repositoryApiUrl, repositoryPage } from './address.ts';

/** A changed file in a commit, a comparison or a pull request, as of commit `sha`. */
export function fileView(state: GithubState, repository: Repository, sha: string, file: FileChange) {
  const path = file.filename.split('/').map(encodeURIComponent).join('/');
  return {
    sha: file.blobSha,
    filename: file.filename,
    status: file.status,
    additions: file.additions,
    deletions: file.deletions,
    changes: file.additions + file.deletions,
    blob_url: repositoryPage(state, repository, `/blob/${sha}/${path}`),
    raw_url: repositoryPage(state, repository, `/raw/${sha}/${path}`),
    contents_url: repositoryApiUrl(state, repository, `/contents/${path}?ref=${sha}`),
    ...(file.previousFilename === null ? {} : { previous_filename: file.previousFilename }),
  };
}
