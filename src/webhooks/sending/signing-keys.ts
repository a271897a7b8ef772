import type { KeyObject } from 'node:crypto';
import type { Webhook } from '../webhook.ts';
import { fingerprintOf, signingKey } from './signature.ts';

/**
 * The keys of a webhook while its secret is being replaced. A receiver that knows one secret only gets the new one
 * late: what it refuses is signed with the one before, until it knows better. Pure.
 */
export interface SigningKey {
  /** Null: no secret. */
  readonly key: KeyObject | null;
  /** Tells keys apart in the log, and says nothing about the secret. Null without one. */
  readonly fingerprint: string | null;
  /** Not used from then on; null for the present one. */
  readonly untilMs: number | null;
}

/** The present one first, then those it replaced, newest first. */
export function signingKeys({ secret, oldSecrets }: Pick<Webhook, 'secret' | 'oldSecrets'>): SigningKey[] {
  const old = oldSecrets.map((one) => keyOf(one.secret, one.untilMs));
  return [keyOf(secret, null), ...old];
}

export function validKeys(keys: readonly SigningKey[], nowMs: number): readonly SigningKey[] {
  if (keys.length === 1) return keys;
  return keys.filter(({ untilMs }) => untilMs === null || untilMs > nowMs);
}

/** The key of the X-Signature headers after so many refusals: each in turn, then from the beginning. */
export function keyAfter(valid: readonly SigningKey[], rejections: number): SigningKey {
  return valid[rejections % valid.length] ?? keyOf(null, null);
}

/** Whether a receiver that refused a signature has not seen all of the keys yet. */
export function hasAnotherKey(valid: number, rejections: number): boolean {
  return (rejections + 1) % valid !== 0;
}

function keyOf(secret: string | null, untilMs: number | null): SigningKey {
  return { key: signingKey(secret), fingerprint: secret ? fingerprintOf(secret) : null, untilMs };
}
