import type { Logger } from '../logger.ts';
import type { Tx } from '../tx.ts';
import { loggedNotices, type Notice, type Notices } from './sending/notices.ts';
import type { WebhookStore } from './webhook-store.ts';

/** What is told of a run, where people look at its commit. */
export interface RunNote {
  /** Of two notes of a run with the same key, the first is kept. */
  readonly key: string;
  /** Markdown, fit for everybody who may see that there is a run. */
  readonly text: string;
  /** The same with what only those may see who may read the stack. */
  readonly detailedText: string;
}

export type NoteOnRun = (tx: Tx, runId: string, note: RunNote) => Promise<void>;

/** Tells the log, and the run that met it: there once for each kind. */
export function createRunNotices(parts: {
  readonly webhooks: Pick<WebhookStore, 'find'>;
  readonly noteOnRun: NoteOnRun;
  readonly logger: Logger;
}): Notices {
  const log = loggedNotices(parts.logger);
  return {
    async notify(tx, notice) {
      await log.notify(tx, notice);
      const webhook = await parts.webhooks.find(notice.webhookId, tx);
      if (webhook === null) return;
      await parts.noteOnRun(tx, notice.runId, noteOf(notice, new URL(webhook.url).host));
    },
  };
}

/** Path and query may be a credential, and the last error tells of the network: neither is said. */
function noteOf(notice: Notice, host: string): RunNote {
  const { webhookId, kind } = notice;
  const about = (name: string) => sentences(notice, name).join(' ');
  return {
    key: `webhook:${webhookId}:${kind}`,
    text: about(`Webhook \`${webhookId}\``),
    detailedText: about(`Webhook \`${webhookId}\` (\`${host}\`)`),
  };
}

function sentences(notice: Notice, name: string): readonly string[] {
  const { webhookId } = notice;
  switch (notice.kind) {
    case 'failing':
      return [
        `**${name} does not get through.**`,
        `${notice.health.failedAttempts} attempts failed since ${time(notice.health.failingSinceMs)}.`,
        'Slipway goes on trying; when nothing is delivered for three days, the webhook is disabled.',
        `\`slipway webhook show ${webhookId}\` says more.`,
      ];
    case 'exhausted':
      return [
        `**${name} did not get everything about this run.**`,
        'All attempts to send a state change failed; it is not sent again by itself.',
        `\`slipway webhook deliveries ${webhookId}\` lists what can be sent again.`,
      ];
    case 'disabled':
      return [
        `**${name} is disabled.**`,
        notice.reason,
        'State changes are not sent to it any more.',
        `Once its receiver is well, an administrator enables it: \`slipway webhook update ${webhookId} --enable\`.`,
      ];
  }
}

const time = (ms: number): string => new Date(ms).toISOString().replace(/T(\d\d:\d\d).*/, ' $1 UTC');
