import { z } from 'zod';
import type { VendorSettings } from '../../stacks/vendor-settings.ts';
import { UserError } from '../../user-error.ts';
import { localStateOf } from '../local-state.ts';

/** Where a stack of Slipway finds its state, and what it is called there. */
export interface PulumiSettings {
  readonly loginUrl: string;
  readonly stackName: string;
}

const maxUrlLength = 2048;
// Pulumi allows 100 characters for each of organisation, project and stack.
const maxStackNameLength = 302;

export const settingsSchema = z.strictObject({
  loginUrl: z.string().superRefine(checkLoginUrl),
  stackName: z
    .string()
    .max(maxStackNameLength)
    .regex(/^[A-Za-z0-9_][A-Za-z0-9_./-]*$/, 'letters, digits and _ . / - only, and none of . / - in front'),
});

/** The settings of a stack, which `settingsSchema` accepted when they were stored. */
export function pulumiSettings(settings: VendorSettings): PulumiSettings {
  return settingsSchema.parse(settings['pulumi']);
}

const remoteSchemes = ['s3:', 'gs:', 'azblob:', 'https:'];

/** Throws `login-url-not-allowed`: docs/stacks.md, "Local state". */
function checkLoginUrl(loginUrl: string): void {
  if (localStateOf(loginUrl) !== null) return;
  if (loginUrl.length > maxUrlLength) throw refused(`it is longer than ${maxUrlLength} characters`);
  // The parser drops tabs and newlines and encodes the rest; pulumi would not.
  if (!/^[\x21-\x7e]+$/.test(loginUrl)) throw refused('it is empty or has blanks or non-ASCII characters');

  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/.exec(loginUrl)?.[0];
  if (scheme === undefined) throw refused('it does not begin with a scheme');
  if (scheme.toLowerCase() === 'file:') throw refused('a stack reaches no other directory of this host');
  if (/^postgres(ql)?:$/i.test(scheme)) {
    throw refused('PostgreSQL as a state backend cannot be reached from a run yet');
  }
  if (scheme === 'http:') {
    // pulumi accepts it. The access token and every state would pass the network readable by all.
    throw refused('http: would send the access token and the state in clear', 'Use the https: address.');
  }
  if (!remoteSchemes.includes(scheme)) throw refused(`${scheme} is not a state backend known here`);
  if (!loginUrl.startsWith(`${scheme}//`)) throw refused(`it does not begin with ${scheme}//`);

  const url = URL.parse(loginUrl);
  if (url === null || url.hostname === '') throw refused('it names no bucket, container or host');
  if (url.username !== '' || url.password !== '' || hasUserinfo(loginUrl)) {
    throw refused(
      'it carries a user name or password',
      'Put credentials into the environment of the stack, where they are kept encrypted.',
    );
  }
}

/** `https://@host` and `s3://:@bucket` parse to empty names; they are refused all the same. */
function hasUserinfo(loginUrl: string): boolean {
  const authority = /^[^:]+:\/\/([^/?#\\]*)/.exec(loginUrl)?.[1] ?? '';
  return authority.includes('@');
}

const formsThatWork =
  'Use file:///state or file:///state/<name> for state kept by Slipway, or an s3://, gs://, azblob:// or https:// URL.';

function refused(reason: string, hint = formsThatWork): UserError {
  const message = `The login URL is not allowed: ${reason}.`;
  return new UserError('login-url-not-allowed', message, {
    hint,
    issues: [{ path: 'vendor.pulumi.loginUrl', message: reason }],
  });
}
