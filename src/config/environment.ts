import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { UserError } from '../user-error.ts';

/** Of the process, or the `.env` of a directory: nothing else in src/ reads `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Adds the `.env` of a directory below the real environment, which wins. */
export function withDotEnv(environment: Environment, directory: string): Environment {
  return { ...settingsOfDotEnv(directory), ...environment };
}

/** What the `.env` of a directory says; nothing without one. */
export function settingsOfDotEnv(directory: string): Environment {
  try {
    return parseEnv(readFileSync(join(directory, '.env'), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new UserError('config-invalid', 'The .env file cannot be read.', { cause: error });
  }
}

export function environmentOfProcess(): Environment {
  return withDotEnv(process.env, process.cwd());
}

/**
 * The system's resolver works in libuv's threads and may hold half of them. With the usual four, two names whose
 * servers never answer would stop the look-up of every other name, GitHub's included. Call it first: threads are made
 * once. An operator's own number stays.
 */
export function widenThreadPool(): void {
  process.env['UV_THREADPOOL_SIZE'] ||= '64';
}
