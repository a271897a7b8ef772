import { createHash, createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/**
 * The signatures of one attempt: the two headers of the specification in GitHub's form, and those of
 * Standard Webhooks beside them, which add protection against replays. Pure; keys come in ready.
 */
export interface SignedMessage {
  readonly body: Uint8Array;
  readonly deliveryId: string;
  /** Unix seconds of this attempt, not of the state change. */
  readonly timestamp: number;
}

/** Null without a secret; "" is none. Key objects sign a quarter faster than strings. */
export function signingKey(secret: string | null): KeyObject | null {
  return secret ? createSecretKey(secret, 'utf8') : null;
}

/** Names a secret where it must not be said: in logs, and beside the deliveries it signed. */
export function fingerprintOf(secret: string): string {
  return `key:${createHash('sha256').update(secret).digest('hex').slice(0, 8)}`;
}

/**
 * The specification puts both X-Signature headers on every payload. Without a secret the HMAC is keyed with
 * the empty string, which Node, Python and OpenSSL agree on: it detects corruption, not forgery.
 */
const noKey = createSecretKey(new Uint8Array(0));

/** `valid`: every key the receiver may know, for the header that has room for more than one signature. */
export function signatureHeaders(
  key: KeyObject | null,
  { body, deliveryId, timestamp }: SignedMessage,
  valid: readonly KeyObject[] = key === null ? [] : [key],
): Readonly<Record<string, string>> {
  // Lower-case hex: verifiers compare text.
  const hex = (hash: 'sha1' | 'sha256') =>
    createHmac(hash, key ?? noKey)
      .update(body)
      .digest('hex');
  return {
    'x-signature': `sha1=${hex('sha1')}`,
    'x-signature-256': `sha256=${hex('sha256')}`,
    'webhook-id': deliveryId,
    'webhook-timestamp': String(timestamp),
    // A verifier of this scheme refuses an empty key, so without a secret there is nothing to send.
    ...(valid.length > 0 && {
      'webhook-signature': valid
        .map((one) => `v1,${standardSignature(one, { body, deliveryId, timestamp })}`)
        .join(' '),
    }),
  };
}

function standardSignature(key: KeyObject, { body, deliveryId, timestamp }: SignedMessage): string {
  return createHmac('sha256', key).update(`${deliveryId}.${timestamp}.`).update(body).digest('base64');
}
