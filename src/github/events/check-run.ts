import { z } from 'zod';
import type { ButtonPress } from '../../runs/buttons.ts';
import type { OfferPress } from '../../runs/offer-button.ts';
import type { ButtonOutcome } from '../../runs/press.ts';
import { parseAggregateId, typesOfKind } from '../feedback/aggregate-check.ts';
import { parseOfferId } from '../feedback/offers.ts';
import { parseUnaffectedId } from '../feedback/unaffected-check.ts';
import { installationReference, repositoryJson } from '../github-json.ts';
import type { DeliveryOutcome } from '../inbox-store.ts';
import type { KnownRepositories } from '../known-repositories.ts';
import { fileCheckPrefix } from '../repository-file/file-check.ts';
import type { RepositoryFiles } from '../repository-file/repository-files.ts';
import type { OnRerun } from './check-suite.ts';
import { done, type EventHandler, ignored, notSeen, notUnderstood } from './event-handler.ts';
import { senderActor, senderJson } from './sender.ts';

export type OnButton = (press: ButtonPress) => Promise<ButtonOutcome>;
export type OnOffer = (press: OfferPress) => Promise<ButtonOutcome>;

const actionPart = z.object({ action: z.string() });

const payload = z.object({
  check_run: z.object({
    id: z.number().int(),
    external_id: z.string().nullish(),
    app: z.object({ id: z.number().int() }).nullish(),
  }),
  requested_action: z.object({ identifier: z.string().nullish() }).nullish(),
  sender: senderJson,
  repository: repositoryJson,
  installation: installationReference,
});
type CheckRunJson = z.output<typeof payload>;

/**
 * Somebody pressed a button of a check run, or "Re-run" below it; what comes of it is decided in runs/buttons.ts and
 * runs/reruns.ts. Checks that are of no run have no button but "Re-run".
 */
export function createCheckRunHandler(parts: {
  appId: number;
  repositories: KnownRepositories;
  files: Pick<RepositoryFiles, 'refresh'>;
  onButton: OnButton;
  onOffer: OnOffer;
  onRerun: OnRerun;
}): EventHandler {
  /** Null: it is the check of a run. */
  async function rerun(json: CheckRunJson, deliveryId: string): Promise<DeliveryOutcome | null> {
    const id = json.check_run.external_id ?? '';
    const repositoryId = json.repository.id;
    if (id.startsWith(fileCheckPrefix))
      return done(await parts.files.refresh(repositoryId, { insist: true }));
    if (parseUnaffectedId(id))
      return ignored('the commit does not concern the stack: there is nothing to run');
    const aggregate = parseAggregateId(id);
    if (!aggregate) return null;
    if (aggregate.repositoryId !== repositoryId) return ignored('the check run is of another repository');
    const notes = await parts.onRerun({
      repositoryId,
      commit: aggregate.commit,
      types: typesOfKind[aggregate.kind],
      concerns: ({ settings }) => settings.checks === 'aggregate',
      shownBy: { checkRun: String(json.check_run.id) },
      actor: senderActor(json.sender),
      deliveryId,
    });
    return done(notes.join('; '));
  }

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
    if (action === 'rerequested') {
      const outcome = await rerun(json, event.deliveryId);
      if (outcome) return outcome;
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
  return {
    button,
    // Empty is the id of no run.
    runId: json.check_run.external_id ?? '',
    repositoryId: json.repository.id,
    checkRunId: json.check_run.id,
    actor: senderActor(json.sender),
    deliveryId,
  };
}
