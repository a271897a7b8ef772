import type { PullRequestContent } from '../stacks/pull-request.ts';
import type { Author, LivePullRequest, PullRequestReader } from './pull-request-reader.ts';

/** What is in a pull request, and which bots it comes from: `by` is who did something with it. */
export async function readContent(
  reader: Pick<PullRequestReader, 'changedPaths' | 'headCommit'>,
  live: LivePullRequest,
  by: Author,
): Promise<PullRequestContent> {
  const [changedPaths, head] = await Promise.all([reader.changedPaths(live), reader.headCommit(live)]);
  const bots = [by, live.author, head.author].flatMap((person) => (person?.isBot ? [person.login] : []));
  return { head: head.commit, changedPaths, bots: [...new Set(bots)] };
}
