import type { Sessions } from '../../access/sessions.ts';
import type { MergeGroups } from '../../runs/merge-groups.ts';
import type { PullRequestClosing } from '../../runs/pull-requests.ts';
import type { PullRequestChange } from '../../stacks/pull-request.ts';
import type { Push } from '../../stacks/trigger.ts';
import type { GithubApp } from '../github-app.ts';
import type { KnownRepositories } from '../known-repositories.ts';
import type { PullRequestReader } from '../pull-request-reader.ts';
import type { Reconciler } from '../reconcile/installations.ts';
import type { RepositoryFiles } from '../repository-file/repository-files.ts';
import { createAuthorizationHandler } from './authorization.ts';
import { createCheckRunHandler, type OnButton, type OnOffer } from './check-run.ts';
import { createCheckSuiteHandler, type OnRerun } from './check-suite.ts';
import { createInstallationHandler } from './installation.ts';
import { createInstallationChangedHandler } from './installation-changed.ts';
import { createIssueCommentHandler, type OnComment } from './issue-comment.ts';
import { createMergeGroupHandler } from './merge-group.ts';
import { createPullRequestHandler } from './pull-request.ts';
import { createPushHandler } from './push.ts';
import { createRepositoryHandler } from './repository.ts';

/** Where events go. Asked late: who decides about them needs what is made of GitHub. */
export interface EventSinks {
  readonly onPush: (push: Push, deliveryId: string) => Promise<readonly string[]>;
  readonly onPullRequest: {
    readonly changed: (change: PullRequestChange, deliveryId: string) => Promise<readonly string[]>;
    readonly closed: (closing: PullRequestClosing) => Promise<readonly string[]>;
    readonly isJudged: (repositoryId: number) => Promise<boolean>;
  };
  readonly onButton: OnButton;
  readonly onComment: OnComment;
  readonly onOffer: OnOffer;
  readonly onRerun: OnRerun;
  readonly mergeGroups: () => MergeGroups;
}

/** A handler for every event that something is done about, by GitHub's name of the event. */
export function createEventHandlers(
  parts: EventSinks & {
    readonly app: Pick<GithubApp, 'forgetToken'>;
    readonly appId: number;
    readonly repositories: KnownRepositories;
    readonly files: RepositoryFiles;
    readonly pullRequests: PullRequestReader;
    readonly reconciler: Reconciler;
    readonly sessions: Pick<Sessions, 'endAllOf'>;
  },
) {
  const { mergeGroups, onPullRequest } = parts;
  return {
    push: createPushHandler({
      ...parts,
      onMergeGroup: (group, deliveryId) => mergeGroups().requested(group, deliveryId),
    }),
    pull_request: createPullRequestHandler({
      ...parts,
      onChange: onPullRequest.changed,
      onClose: onPullRequest.closed,
      isJudged: onPullRequest.isJudged,
    }),
    installation: createInstallationHandler(parts),
    installation_repositories: createInstallationChangedHandler(parts),
    installation_target: createInstallationChangedHandler(parts),
    repository: createRepositoryHandler(parts),
    check_run: createCheckRunHandler(parts),
    check_suite: createCheckSuiteHandler(parts),
    issue_comment: createIssueCommentHandler(parts),
    merge_group: createMergeGroupHandler(parts),
    github_app_authorization: createAuthorizationHandler(parts),
  };
}
