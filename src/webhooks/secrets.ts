import { randomBytes } from 'node:crypto';
import { UserError } from '../user-error.ts';
import type { OldSecret, Webhook } from './webhook.ts';

/** The secrets of a webhook: which are possible, and what becomes of one that is replaced. */
export interface Secrets {
  readonly secret: string | null;
  /** Newest first. */
  readonly oldSecrets: readonly OldSecret[];
}

export const maxSecretBytes = 1024;
const maxOldSecrets = 5;
const hourMs = 60 * 60 * 1000;

/** Of an overlap: a week. */
export const maxOverlapHours = 168;

/** 32 random bytes as text. */
export const randomSecret = (): string => randomBytes(32).toString('base64url');

/** As it is, line breaks included; "" is none. Throws `invalid-input`. */
export function checkedSecret(secret: string | null | undefined): string | null {
  if (!secret) return null;
  if (secret.isWellFormed() && Buffer.byteLength(secret) <= maxSecretBytes) return secret;
  const message = `at most ${maxSecretBytes} bytes of well-formed text`;
  throw new UserError('invalid-input', `The secret cannot be used: ${message} are possible.`, {
    issues: [{ path: 'secret', message }],
  });
}

/** With an overlap of 0 hours nothing old is used any more, that of an earlier overlap included. */
export function replacedSecret(
  current: Pick<Webhook, 'secret' | 'oldSecrets'>,
  secret: string | null,
  { overlapHours, nowMs }: { readonly overlapHours: number; readonly nowMs: number },
): Secrets {
  if (overlapHours === 0) return { secret, oldSecrets: [] };
  const untilMs = nowMs + overlapHours * hourMs;
  const replaced = current.secret === null ? [] : [{ secret: current.secret, untilMs }];
  const old = validSecrets([...replaced, ...current.oldSecrets], nowMs);
  // One that comes back is not old any more.
  const oldSecrets = old.filter((entry) => entry.secret !== secret).slice(0, maxOldSecrets);
  return { secret, oldSecrets };
}

export const validSecrets = (oldSecrets: readonly OldSecret[], nowMs: number): readonly OldSecret[] =>
  oldSecrets.filter(({ untilMs }) => untilMs > nowMs);
