import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import type { Transactions } from '../tx.ts';
import type { InboxStore } from './inbox-store.ts';

/**
 * The door for GitHub's deliveries: checks that GitHub sent it, stores the raw body, and only then says
 * 202, because GitHub never sends again by itself. It does not look at what the event means; the worker
 * does (inbox-worker.ts). Whoever serves HTTP reads at most `maxBodyBytes` and passes the bytes.
 */
export interface Inbox {
  receive(request: IncomingDelivery): Promise<Receipt>;
}

export interface IncomingDelivery {
  readonly headers: { get(name: string): string | null };
  readonly body: Uint8Array | 'too-large';
}

export interface Receipt {
  readonly status: 202 | 400 | 401 | 413 | 415;
  readonly problem: { readonly code: string; readonly message: string } | null;
}

/** GitHub's own cap on payloads, 25 MiB: what is larger does not come from there. */
export const maxBodyBytes = 26_214_400;

export function createInbox(parts: {
  webhookSecret: string;
  store: InboxStore;
  transactions: Transactions;
  clock: Clock;
  /** Called after a commit that left something to handle. */
  onStored: () => void;
}): Inbox {
  const { webhookSecret, store, transactions, clock } = parts;
  // HMAC takes an empty key without complaint, and then anybody can sign.
  if (webhookSecret === '') throw new Error('the inbox needs a webhook secret');

  return {
    // The order of the checks is promised in docs/api.md.
    async receive({ headers, body }) {
      if (body === 'too-large' || body.byteLength > maxBodyBytes) {
        return refused(413, 'payload-too-large', `The body is larger than ${maxBodyBytes} bytes.`);
      }
      if (!isSigned(webhookSecret, body, headers.get('x-hub-signature-256'))) {
        return refused(401, 'signature-invalid', 'X-Hub-Signature-256 is missing or not that of the body.');
      }
      if (!isJsonType(headers.get('content-type'))) {
        return refused(415, 'unsupported-media-type', 'The content type must be application/json.');
      }
      const payload = parseObject(body);
      if (payload === null) return refused(400, 'not-json', 'The body is not a JSON object.');
      const event = headers.get('x-github-event');
      const id = headers.get('x-github-delivery');
      if (!event || !id) {
        return refused(400, 'header-missing', 'X-GitHub-Event and X-GitHub-Delivery are required.');
      }
      const delivery = { id, event, lane: laneOf(payload), body, receivedAtMs: clock.nowMs() };
      await transactions.write(async (tx) => {
        const result = await store.insert(tx, delivery);
        if (result !== 'duplicate') tx.afterCommit(parts.onStored);
      });
      return { status: 202, problem: null };
    },
  };
}

const number = z.object({ id: z.number().int() }).optional().catch(undefined);
const subject = z.object({ repository: number, installation: number });

export const laneOfRepository = (id: number): string => `repository ${id}`;

/** What a delivery is about: two of one repository must not be handled at once, of different ones they may. */
function laneOf(payload: object): string {
  const { repository, installation } = subject.parse(payload);
  if (repository) return laneOfRepository(repository.id);
  return installation ? `installation ${installation.id}` : 'other';
}

function refused(status: Exclude<Receipt['status'], 202>, code: string, message: string): Receipt {
  return { status, problem: { code, message } };
}

/** Over the raw bytes, as any re-encoding could differ. The SHA-1 signature that GitHub still sends counts for nothing. */
function isSigned(secret: string, body: Uint8Array, header: string | null): boolean {
  const digest = createHmac('sha256', secret).update(body).digest('hex');
  const expected = Buffer.from(`sha256=${digest}`);
  const given = Buffer.from(header ?? '');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function isJsonType(header: string | null): boolean {
  const [mediaType = ''] = (header ?? '').split(';');
  return mediaType.trim().toLowerCase() === 'application/json';
}

/** Null for what is not JSON in UTF-8, and for anything but an object: every event of GitHub is one. */
export function parseObject(body: Uint8Array): object | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
