import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import { UserError } from '../../user-error.ts';

/** The App as GitHub made it, with everything that is secret about it. */
export interface MadeApp {
  readonly id: number;
  readonly name: string;
  /** The App's public page. */
  readonly pageUrl: string;
  readonly privateKey: string;
  readonly webhookSecret: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

const answer = z.object({
  id: z.number().int().positive(),
  name: z.string(),
  html_url: z.url({ protocol: /^https?$/ }),
  pem: z.string().refine(isRsaKey),
  webhook_secret: z.string().min(1),
  client_id: z.string().min(1),
  client_secret: z.string().min(1),
});

function isRsaKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

const timeoutMs = 20_000;

/** What GitHub's codes look like, generously. */
const codePattern = /^[\w-]{1,200}$/;

/**
 * Exchanges the code that GitHub gave the browser for the App's credentials, which works once and within an hour.
 * Throws UserError: `github-unavailable` when it is worth trying again with the same code, `github-refused` when not.
 */
export async function convertManifest(apiUrl: string, code: string, signal: AbortSignal): Promise<MadeApp> {
  if (!codePattern.test(code)) throw refused('What came back is no code of GitHub.');
  const response = await post(`${apiUrl}/app-manifests/${code}/conversions`, signal);
  if (response.status >= 500 || response.status === 429) {
    throw unavailable(`GitHub answered ${response.status}.`);
  }
  if (response.status === 404) throw refused('GitHub does not know the code: it was used, or is too old.');
  if (response.status !== 201) throw refused(`GitHub answered ${response.status} and gave no credentials.`);
  // Its text is not told to anybody: it holds the credentials.
  const parsed = answer.safeParse(await response.json().catch(() => null));
  if (!parsed.success) {
    const fields = parsed.error.issues.map(({ path }) => path.join('.') || 'the whole');
    throw refused(`What GitHub answered is not usable: ${fields.join(', ')}.`);
  }
  const { id, name, html_url, pem, webhook_secret, client_id, client_secret } = parsed.data;
  return {
    ...{ id, name, pageUrl: html_url, privateKey: pem, webhookSecret: webhook_secret },
    ...{ clientId: client_id, clientSecret: client_secret },
  };
}

async function post(url: string, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, {
      method: 'POST',
      // A redirect would carry the code elsewhere.
      redirect: 'error',
      headers: { accept: 'application/vnd.github+json', 'user-agent': 'slipway' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
  } catch {
    // The cause names the address, and with it the code.
    throw unavailable('GitHub could not be reached.');
  }
}

function unavailable(message: string): UserError {
  return new UserError('github-unavailable', message, {
    hint: 'Try again: the code that GitHub gave is good for an hour.',
  });
}

function refused(message: string): UserError {
  return new UserError('github-refused', message, {
    hint: 'If an App was made, delete it in the settings on GitHub; then begin again.',
  });
}
