import { createHash } from 'node:crypto';
import type { Policy } from '../policies/policy.ts';
import type { Stack } from '../stacks/stack.ts';
import { UserError } from '../user-error.ts';
import type { Webhook } from '../webhooks/webhook.ts';

/**
 * Entity tags of what has settings (RFC 9110, 8.8.3): `"<settings>.<all>"`. The whole changes with everything that is
 * shown, for If-None-Match. If-Match is about the settings alone: a run that goes on must not keep anybody from saving.
 */
export function entityTag(settings: string, shown: unknown): string {
  return `"${settings}.${digest(JSON.stringify(shown))}"`;
}

/** Another one whenever somebody, or the repository file, decided something else. */
export const stackVersion = ({ settings, managedBy }: Pick<Stack, 'settings' | 'managedBy'>): string =>
  digest(JSON.stringify([settings, managedBy]));

export const webhookVersion = ({ version }: Pick<Webhook, 'version'>): string => `v${version}`;

/** Another one whenever somebody decided something else of it. */
export const policyVersion = ({ name, description, labels, digest: source }: Policy): string =>
  digest(JSON.stringify([name, description, labels, source]));

/** Of a webhook; its secret is no part of it, as proxies write tags into their logs: a change of it is another version. */
export function webhookTag(webhook: Webhook, shown: { readonly secret?: string | null | undefined }): string {
  const { secret: _, ...rest } = shown;
  return entityTag(webhookVersion(webhook), rest);
}

/**
 * Throws `precondition-failed` unless If-Match allows a change of what has that version now. To be asked inside the
 * transaction that changes it. Undefined: nothing is demanded.
 */
export function requireMatch(ifMatch: string | undefined, version: string): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return;
  // Weak tags never match here (RFC 9110, 8.8.3.2).
  if (tagsOf(ifMatch).some((tag) => tag.slice(1).split('.')[0] === version)) return;
  throw new UserError('precondition-failed', 'The settings were changed since you loaded them.', {
    hint: 'Load them again, look at what is new, and repeat your change.',
  });
}

/** Whether If-None-Match lists the tag; weak or not is the same here. */
export function isListed(ifNoneMatch: string, tag: string): boolean {
  return ifNoneMatch.trim() === '*' || tagsOf(ifNoneMatch).some((each) => each.replace(/^W\//, '') === tag);
}

const tagsOf = (list: string): readonly string[] => list.match(/(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g) ?? [];

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22);
