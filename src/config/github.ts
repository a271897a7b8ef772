import { createPrivateKey } from 'node:crypto';
import type { Environment } from './environment.ts';
import { invalid, readSetting } from './invalid.ts';

export interface GithubConfig extends GithubAddress {
  readonly appId: number;
  readonly privateKey: string;
  readonly webhookSecret: string;
  /** Of the App's user flow. Null: nobody can log in to the UI. */
  readonly userFlow: { readonly clientId: string; readonly clientSecret: string } | null;
}

export interface GithubAddress {
  /** The API's base address, e.g. https://api.github.com or https://ghe.example.com/api/v3 */
  readonly apiUrl: string;
  /** Where repositories are fetched and pages are, e.g. https://github.com */
  readonly webUrl: string;
}

/** As they stand in the environment; null or undefined: not set. */
interface GithubSettings {
  readonly APP_ID?: number | undefined;
  readonly PRIVATE_KEY: string | null;
  readonly PRIVATE_KEY_PATH: string | null;
  readonly WEBHOOK_SECRET: string | null;
  readonly GITHUB_CLIENT_ID: string | null;
  readonly GITHUB_CLIENT_SECRET: string | null;
  readonly GHE_HOST: string | null;
  readonly GHE_PROTOCOL: 'http' | 'https';
}

/** The settings of the App: all of them, or none. */
export const credentialNames = [
  'APP_ID',
  'PRIVATE_KEY',
  'PRIVATE_KEY_PATH',
  'WEBHOOK_SECRET',
  'GITHUB_CLIENT_ID',
  'GITHUB_CLIENT_SECRET',
] as const;

/** The settings as they are without an App, however incomplete those of an App may be. */
export function withoutCredentials(environment: Environment): Environment {
  return { ...environment, ...Object.fromEntries(credentialNames.map((name) => [name, undefined])) };
}

/** Null: no App is set up. Throws `config-invalid`. */
export function githubConfig(values: GithubSettings): GithubConfig | null {
  const named = values.APP_ID !== undefined || values.PRIVATE_KEY || values.PRIVATE_KEY_PATH;
  if (!named && !values.WEBHOOK_SECRET) return null;
  if (!values.WEBHOOK_SECRET) {
    throw invalid(
      'WEBHOOK_SECRET: missing',
      'Without it anybody could forge a push. Set the secret of the GitHub App.',
    );
  }
  if (values.APP_ID === undefined)
    throw invalid('APP_ID: missing', 'It stands on the page of the GitHub App.');
  return {
    appId: values.APP_ID,
    privateKey: privateKey(values),
    webhookSecret: values.WEBHOOK_SECRET,
    ...githubAddress(values),
    userFlow: userFlow(values),
  };
}

export function githubAddress({ GHE_HOST: host, GHE_PROTOCOL: protocol }: GithubSettings): GithubAddress {
  if (!host) return { apiUrl: 'https://api.github.com', webUrl: 'https://github.com' };
  return { apiUrl: `${protocol}://${host}/api/v3`, webUrl: `${protocol}://${host}` };
}

function userFlow(values: GithubSettings): GithubConfig['userFlow'] {
  const { GITHUB_CLIENT_ID: clientId, GITHUB_CLIENT_SECRET: clientSecret } = values;
  if (clientId === null && clientSecret === null) return null;
  if (clientId === null)
    throw invalid('GITHUB_CLIENT_ID: missing', 'It stands on the page of the GitHub App.');
  if (clientSecret === null) {
    throw invalid('GITHUB_CLIENT_SECRET: missing', 'The page of the GitHub App makes one.');
  }
  return { clientId, clientSecret };
}

function privateKey({ PRIVATE_KEY: given, PRIVATE_KEY_PATH: path }: GithubSettings): string {
  // Multi-line values are awkward in environments: "\n" written out is accepted, as GitHub's guides do.
  if (given) return checkedKey('PRIVATE_KEY: the value', given.replaceAll('\\n', '\n'));
  const hint = 'GitHub gives the key out as a .pem file on the page of the App.';
  if (!path) throw invalid('PRIVATE_KEY or PRIVATE_KEY_PATH: missing', hint);
  return checkedKey(`PRIVATE_KEY_PATH: ${path}`, readSetting('PRIVATE_KEY_PATH', path, hint));
}

/** Otherwise the first question to GitHub would show it, long after the start. */
function checkedKey(what: string, pem: string): string {
  try {
    if (createPrivateKey(pem).asymmetricKeyType === 'rsa') return pem;
  } catch {
    // The reason is OpenSSL's and says less than the line below.
  }
  throw invalid(
    `${what} is no RSA private key in PEM form`,
    'Give the .pem file as GitHub gave it out, from "-----BEGIN" to "-----END"; line breaks in a value as \\n.',
  );
}
