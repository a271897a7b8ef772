import type { Probot } from 'probot';
import { type EventHandler, ignored } from './events/event-handler.ts';
import { parseObject } from './inbox.ts';
import type { Delivery, DeliveryOutcome } from './inbox-store.ts';

/** The events that the product acts on; all others are ignored, with that as the reason. */
export interface EventHandlers {
  readonly push: EventHandler;
  readonly pull_request: EventHandler;
  readonly installation: EventHandler;
  readonly installation_repositories: EventHandler;
  readonly installation_target: EventHandler;
  readonly repository: EventHandler;
  readonly check_run: EventHandler;
  readonly issue_comment: EventHandler;
  readonly check_suite: EventHandler;
  readonly merge_group: EventHandler;
  readonly github_app_authorization: EventHandler;
}

type Result = { readonly outcome: DeliveryOutcome } | { readonly thrown: unknown };

/**
 * Registers the handlers with Probot and gives the inbox its `handle`. Probot's `receive` has no result, so
 * what a handler said is recorded by delivery and picked up after it.
 */
export async function createDeliveryHandler(
  probot: Probot,
  handlers: EventHandlers,
): Promise<(delivery: Delivery) => Promise<DeliveryOutcome>> {
  const results = new Map<string, Result>();

  // What is thrown must not pass through Probot: it logs the error with the whole payload.
  const recording = (handler: EventHandler) => async (context: { id: string; payload: unknown }) => {
    const { id, payload } = context;
    try {
      results.set(id, { outcome: await handler({ deliveryId: id, payload }) });
    } catch (thrown) {
      results.set(id, { thrown });
    }
  };

  await probot.load((app) => {
    app.on('push', recording(handlers.push));
    app.on('pull_request', recording(handlers.pull_request));
    app.on('installation', recording(handlers.installation));
    app.on('installation_repositories', recording(handlers.installation_repositories));
    app.on('installation_target', recording(handlers.installation_target));
    app.on('repository', recording(handlers.repository));
    app.on('check_run', recording(handlers.check_run));
    app.on('issue_comment', recording(handlers.issue_comment));
    app.on('check_suite', recording(handlers.check_suite));
    app.on('merge_group', recording(handlers.merge_group));
    app.on('github_app_authorization', recording(handlers.github_app_authorization));
  });

  return async ({ id, event, body }) => {
    if (!Object.hasOwn(handlers, event)) return ignored(`nothing is done for the event ${event}`);
    const payload = parseObject(body);
    if (payload === null) return { state: 'failed', note: 'the stored body is not a JSON object' };
    try {
      // The type names each event's whole payload; ours is foreign, and every handler parses its part.
      await probot.receive({ id, name: event, payload } as unknown as Parameters<Probot['receive']>[0]);
      const result = results.get(id);
      if (!result) throw new Error('no handler answered');
      if ('thrown' in result) throw result.thrown;
      return result.outcome;
    } finally {
      results.delete(id);
    }
  };
}
