import { readFileSync } from 'node:fs';
import { UserError } from '../user-error.ts';

/** `message` names the setting, never its value where that is a secret. */
export function invalid(message: string, hint?: string): UserError {
  return new UserError('config-invalid', message, hint === undefined ? {} : { hint });
}

/** The text of the file that a setting names. Throws `config-invalid`. */
export function readSetting(name: string, path: string, hint: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw invalid(`${name}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`, hint);
  }
}
