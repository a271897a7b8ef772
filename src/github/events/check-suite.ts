import { z } from 'zod';
import type { RerunRequest } from '../../runs/reruns.ts';
import { installationReference, repositoryJson } from '../github-json.ts';
import type { KnownRepositories } from '../known-repositories.ts';
import { done, type EventHandler, ignored, notSeen, notUnderstood } from './event-handler.ts';
import { senderActor, senderJson } from './sender.ts';

export type OnRerun = (request: RerunRequest) => Promise<readonly string[]>;

const actionPart = z.object({ action: z.string() });
const payload = z.object({
  check_suite: z.object({
    id: z.number().int(),
    head_sha: z.string().min(1),
    app: z.object({ id: z.number().int().nullish() }).nullish(),
  }),
  sender: senderJson,
  repository: repositoryJson,
  installation: installationReference,
});

/** Somebody pressed "Re-run all checks" of a commit: what failed is run once more. */
export function createCheckSuiteHandler(parts: {
  appId: number;
  repositories: Pick<KnownRepositories, 'remember'>;
  onRerun: OnRerun;
}): EventHandler {
  return async (event) => {
    // By itself: GitHub tells of a suite for each push.
    const about = actionPart.safeParse(event.payload);
    if (!about.success) return notUnderstood(about.error);
    const { action } = about.data;
    if (action !== 'rerequested') return ignored(`nothing is done for the action ${action}`);
    const parsed = payload.safeParse(event.payload);
    if (!parsed.success) return notUnderstood(parsed.error);
    const { check_suite: suite, sender, repository, installation } = parsed.data;
    if (!(await parts.repositories.remember(repository, installation.id)))
      return ignored(notSeen(repository));
    if (suite.app?.id !== parts.appId) return ignored('the check suite is not of this App');
    if (sender.type !== 'User') return ignored(`${sender.login} is not a person`);
    const notes = await parts.onRerun({
      repositoryId: repository.id,
      commit: suite.head_sha,
      types: ['PROPOSED', 'TRACKED', 'TASK', 'DESTROY'],
      concerns: () => true,
      shownBy: { checkSuite: String(suite.id) },
      actor: senderActor(sender),
      deliveryId: event.deliveryId,
    });
    return done(notes.join('; '));
  };
}
