import type { Clock } from '../clock.ts';
import type { Transactions } from '../tx.ts';
import { UserError } from '../user-error.ts';
import { createApiBudget } from './api-budget.ts';
import type { Github } from './github.ts';
import { createInboxControl } from './inbox-control.ts';
import type { InboxStore } from './inbox-store.ts';

/** Before the App is registered: the command line and `doctor` work, everything that asks GitHub says why not. */
export function createUnconfiguredGithub(parts: {
  readonly stores: { readonly inbox: InboxStore };
  readonly transactions: Transactions;
  readonly clock: Clock;
}): Github {
  const { stores, transactions, clock } = parts;
  const refuse = () =>
    Promise.reject(
      new UserError('github-not-configured', 'This needs the settings of the GitHub App.', {
        hint: 'Set APP_ID, PRIVATE_KEY_PATH and WEBHOOK_SECRET; see .env.example.',
      }),
    );
  return {
    inbox: null,
    inboxControl: createInboxControl({ store: stores.inbox, transactions, clock, onReplay: () => undefined }),
    source: { resolve: refuse, compare: refuse, changedPaths: refuse, fetch: refuse },
    directory: { lookUp: refuse },
    permissions: { roleOf: refuse },
    appPage: async () => null,
    identityProvider: null,
    reactor: () => Promise.resolve(),
    noteOnRun: () => Promise.resolve(),
    onGateChanged: () => Promise.resolve(),
    conversation: { react: refuse, answer: refuse },
    offers: { offer: () => Promise.resolve() },
    pullRequestNotes: { find: refuse, write: () => Promise.resolve() },
    showUnaffected: () => Promise.resolve(),
    budget: createApiBudget({ clock }),
    start() {},
    async [Symbol.asyncDispose]() {},
  };
}
