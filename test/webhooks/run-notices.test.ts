import { describe, expect, it } from 'vitest';
import { createLogger } from '../../src/logger.ts';
import type { WebhookHealth } from '../../src/webhooks/delivery-store.ts';
import { createRunNotices, type RunNote } from '../../src/webhooks/run-notices.ts';
import type { Notice } from '../../src/webhooks/sending/notices.ts';
import { someHealth } from '../support/builders.ts';
import { webhooksOn } from './endpoints.ts';
import { openStores } from './stores.ts';

type Kind = { kind: 'failing' | 'exhausted'; health: WebhookHealth } | { kind: 'disabled'; reason: string };

const health = someHealth({ failingSinceMs: Date.parse('2026-11-21T10:00:30Z') });
const endpoint = 'https://Receiver.example:8443/path-hidden?token=query-hidden';

async function noteOf(what: Kind): Promise<{ note: RunNote; runId: string; id: string }> {
  await using stores = await openStores();
  const { id } = await webhooksOn(stores).create(await stores.addStack(), { endpoint, secret: 'hidden' });
  const noted: { note: RunNote; runId: string }[] = [];
  const notices = createRunNotices({
    webhooks: stores.webhooks,
    logger: createLogger('silent'),
    noteOnRun: async (_tx, runId, note) => void noted.push({ runId, note }),
  });
  const about = { webhookId: id, runId: 'run-1', deliveryId: 'delivery-1', stateVersion: 3 };
  const notice: Notice = { ...about, ...what };
  await stores.database.write((tx) => notices.notify(tx, notice));
  await stores.database.write((tx) => notices.notify(tx, { ...notice, webhookId: 'gone' }));
  const [first, ...more] = noted;
  if (!first || more.length > 0) throw new Error(`${noted.length} notes`);
  return { ...first, id };
}

const kinds: readonly Kind[] = [
  { kind: 'failing', health },
  { kind: 'exhausted', health },
  { kind: 'disabled', reason: 'The receiver answered 410 Gone.' },
];

describe('the trouble of a webhook', () => {
  it.each(kinds)('is noted on the run: $kind', async (what) => {
    const { note, runId, id } = await noteOf(what);
    expect(runId).toBe('run-1');
    expect(note.key).toBe(`webhook:${id}:${what.kind}`);
    expect(note.detailedText).toMatch(
      new RegExp(`^\\*\\*Webhook \`${id}\` \\(\`receiver\\.example:8443\`\\) `),
    );
    expect(note.text).toMatch(new RegExp(`^\\*\\*Webhook \`${id}\` (is|does|did) `));
    expect(note.detailedText.replace(' (`receiver.example:8443`)', '')).toBe(note.text);
    expect(JSON.stringify(note)).not.toContain('hidden');
  });

  it('says why and what to do', async () => {
    const [failed, exhausted, disabled] = await Promise.all(kinds.map(noteOf));
    expect(failed?.note.text).toContain('12 attempts failed since 2026-11-21 10:00 UTC.');
    expect(exhausted?.note.text).toContain(`slipway webhook deliveries ${exhausted?.id}`);
    expect(disabled?.note.text).toContain('The receiver answered 410 Gone.');
    expect(disabled?.note.text).toContain(`slipway webhook update ${disabled?.id} --enable`);
  });
});
