import { z } from 'zod';
import type { ButtonOutcome, ButtonPress } from '../../runs/buttons.ts';
import type { OfferPress } from '../../runs/offer-button.ts';
import { parseOfferId } from '../feedback/offers.ts';
import { installationReference, repositoryJson } from '../github-json.ts';
import type { KnownRepositories } from '../known-repositories.ts';
import { fileCheckPrefix } from '../repository-file/file-check.ts';
import type { RepositoryFiles } from '../repository-file/repository-files.ts';
import { done, type EventHandler, ignored, notSeen, notUnderstood } from './event-handler.ts';

export type OnButton = (press: ButtonPress) => Promise<ButtonOutcome>;
export type OnOffer = (press: OfferPress) => Promise<ButtonOutcome>;

const actionPart = z.object({ action: z.string() });

const payload = z.object({
  check_run: z.object({
    external_id: z.string().nullish(),
    app: z.object({ id: z.number().int() }).nullish(),
  }),
  requested_action: z.object({ identifier: z.string().nullish() }).nullish(),
  sender: z.object({ id: z.number().int(), login: z.string().min(1), type: z.string() }),
  repository: repositoryJson,
  installation: installationReference,
});
type CheckRunJson = z.output<typeof payload>;

/** Somebody pressed a button of a check run, or "Re-run" below it; what comes of it is decided in runs/buttons.ts. The check of a repository file has no button but "Re-run". */
export function createCheckRunHandler(parts: {
  appId: number;
  repositories: KnownRepositories;
  files: Pick<RepositoryFiles, 'refresh'>;
  onButton: OnButton;
  onOffer: OnOffer;
}): EventHandler {
  return async (event) => {
    // By itself: most of these events tell what we did ourselves, and whatever else they hold is of no interest.
    const about = actionPart.safeParse(event.payload);
    if (!about.success) return notUnderstood(about.error);
    const { action } = about.data;
    if (action !== 'requested_action' && action !== 'rerequested') {
      return ignored(`nothing is done for the action ${action}`);
    }
    const parsed = payload.safeParse(event.payload);
    if (!parsed.success) return notUnderstood(parsed.error);
    const json = parsed.data;
    if (!(await parts.repositories.remember(json.repository, json.installation.id))) {
      return ignored(notSeen(json.repository));
    }
    // Only of our own check runs is the external_id what we wrote there.
    if (json.check_run.app?.id !== parts.appId) return ignored('the check run is not of this App');
    if (json.sender.type !== 'User') return ignored(`${json.sender.login} is not a person`);
    if (action === 'rerequested' && json.check_run.external_id?.startsWith(fileCheckPrefix)) {
      return done(await parts.files.refresh(json.repository.id, { insist: true }));
    }
    const button = action === 'rerequested' ? 'retry' : json.requested_action?.identifier;
    if (!button) return ignored('the payload names no button');
    const press = toPress(button, json, event.deliveryId);
    const offered = parseOfferId(press.runId);
    if (offered && button !== 'deploy') return ignored('an offer is taken by its button');
    const outcome = await (offered ? parts.onOffer({ ...press, ...offered }) : parts.onButton(press));
    return outcome.kind === 'done' ? done(outcome.note) : ignored(outcome.reason);
  };
}

function toPress(button: string, json: CheckRunJson, deliveryId: string): ButtonPress {
  const { id, login } = json.sender;
  return {
    button,
    // Empty is the id of no run.
    runId: json.check_run.external_id ?? '',
    repositoryId: json.repository.id,
    // The payload has no address of the sender; this one is theirs for certain.
    actor: { kind: 'person', login, email: `${id}+${login}@users.noreply.github.com` },
    deliveryId,
  };
}
