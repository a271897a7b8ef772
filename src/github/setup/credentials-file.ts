import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, open, readFile, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import { UserError } from '../../user-error.ts';
import type { MadeApp } from './conversion.ts';
import { withSettings } from './env-text.ts';

/** Where the credentials of a new App go: `.env` and the private key beside it, readable for their owner alone. */
export interface CredentialsFile {
  readonly envPath: string;
  /** Throws the UserError that `save` would, as far as that can be known before there is an App. */
  check(): Promise<void>;
  /** Both files or, for all that matters, neither. Throws UserError; may be tried again. */
  save(app: MadeApp): Promise<{ readonly privateKeyPath: string }>;
}

export interface CredentialsFileOptions {
  readonly directory: string;
  /** Written beside the credentials: where the server is reached, another GitHub. */
  readonly settings: Readonly<Record<string, string>>;
  /** The settings that are the credentials of an App. */
  readonly credentialNames: readonly string[];
  /** Whether credentials that are there may be replaced. */
  readonly isForced: boolean;
}

export function createCredentialsFile(options: CredentialsFileOptions): CredentialsFile {
  const { directory, settings, credentialNames, isForced } = options;
  const envPath = join(directory, '.env');

  async function current(): Promise<string> {
    const text = await textOf(envPath);
    const existing = parseEnv(text);
    const [taken] = credentialNames.filter((name) => existing[name]);
    if (taken === undefined || isForced) return text;
    throw new UserError('already-registered', `${envPath} has the credentials of an App: ${taken} is set.`, {
      hint: '`--force` replaces them; the App on GitHub stays until you delete it there.',
    });
  }

  return {
    envPath,

    async check() {
      const placeholders = Object.fromEntries(credentialNames.map((name) => [name, '1']));
      withSettings(await current(), { ...settings, ...placeholders });
      await access(directory, constants.W_OK).catch((error) => {
        throw unwritable(directory, error);
      });
    },

    async save(app) {
      const text = await current();
      // Named by the App: the key of an App before it stays.
      const keyName = `slipway-${app.id}.private-key.pem`;
      const changed = withSettings(text, {
        ...settings,
        APP_ID: String(app.id),
        PRIVATE_KEY_PATH: keyName,
        WEBHOOK_SECRET: app.webhookSecret,
        GITHUB_CLIENT_ID: app.clientId,
        GITHUB_CLIENT_SECRET: app.clientSecret,
        // It would win over the path.
        ...(parseEnv(text)['PRIVATE_KEY'] === undefined ? {} : { PRIVATE_KEY: '' }),
      });
      const privateKeyPath = join(directory, keyName);
      await replace(privateKeyPath, app.privateKey);
      await replace(envPath, changed);
      return { privateKeyPath };
    },
  };
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    throw new UserError('env-file-unreadable', `${path} cannot be read (${code}).`, { cause: error });
  }
}

/** The old content or the new one, whenever the machine stops; never readable for others. */
async function replace(path: string, content: string): Promise<void> {
  let temporary: string | null = null;
  try {
    // A link stays one.
    const target = await realpath(path).catch(() => path);
    temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}`);
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    if (temporary !== null) await rm(temporary, { force: true });
    throw unwritable(path, error);
  }
}

function unwritable(path: string, cause: unknown): UserError {
  const { code } = cause as NodeJS.ErrnoException;
  return new UserError('env-file-unwritable', `${path} cannot be written (${code}).`, {
    hint: 'Let this user write there, then try again.',
    cause,
  });
}
