import { UserError } from '../user-error.ts';
import type { ManagedBy } from './stack.ts';

/** A variable of a stack's environment. Secret values are encrypted at rest and never given back. */
export interface EnvironmentVariable {
  readonly name: string;
  readonly value: string;
  readonly secret: boolean;
  readonly access: EnvironmentAccess;
  /** Left out: API and command line decide. */
  readonly managedBy?: ManagedBy;
}

/** Which commands see a variable: every run; TRACKED, TASK and DESTROY runs; or their second half only. */
export type EnvironmentAccess = 'all' | 'tracked' | 'apply';

/** Values of 4 characters or more are hidden in output; a shorter one would blank out ordinary text. */
export const minSecretLength = 4;
export const maxNameLength = 200;
/** Of one stack. */
export const maxVariables = 500;
/** Linux starts no program with a variable of 128 KiB or more. */
export const maxValueBytes = 65_536;

/**
 * Names that would change how the launcher, the dynamic linker, git or the run itself behaves. The vendor
 * adds its own (`Vendor.refusesVariable`).
 */
const refusedNames =
  /^(LD_.*|DYLD_.*|GIT_(?!AUTHOR_|COMMITTER_).*|SLIPWAY|SLIPWAY_.*|HOME|USER|LOGNAME|SHELL|PATH|PWD|OLDPWD|SHLVL|_|IFS|BASH_ENV|BASH_FUNC_.*|BASHOPTS|SHELLOPTS|ENV|PS4|PROMPT_COMMAND|TERM|TMPDIR|(HTTPS?|ALL|NO|FTP)_PROXY|(https?|all|no|ftp)_proxy|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS|CURL_CA_BUNDLE|PIP_CERT|REQUESTS_CA_BUNDLE|NODE_OPTIONS|NODE_USE_ENV_PROXY)$/;

const possibleName = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function isRefusedVariableName(name: string): boolean {
  return !possibleName.test(name) || refusedNames.test(name);
}

const whyRefused = (name: string): string =>
  possibleName.test(name)
    ? 'reserved: it steers Slipway, the shell, git or the tool itself'
    : 'letters, digits and underscores only, and no digit in front';

/** Throws `environment-name-refused` or `invalid-input` with what to do. */
export function checkVariable(
  variable: EnvironmentVariable,
  refusedByVendor: (name: string) => boolean,
): void {
  if (variable.name.length > maxNameLength) {
    throw new UserError(
      'environment-name-refused',
      `The variable ${variable.name.slice(0, 40)}… cannot be set.`,
      {
        hint: `A name has ${maxNameLength} characters at most.`,
        issues: [{ path: 'name', message: `at most ${maxNameLength} characters` }],
      },
    );
  }
  if (isRefusedVariableName(variable.name) || refusedByVendor(variable.name)) {
    throw new UserError('environment-name-refused', `The variable ${variable.name} cannot be set.`, {
      hint: 'Names are letters, digits and underscores; names that steer Slipway, the shell, git or the tool itself are reserved.',
      issues: [{ path: 'name', message: whyRefused(variable.name) }],
    });
  }
  if (variable.value.includes('\0') || Buffer.byteLength(variable.value) > maxValueBytes) {
    throw new UserError(
      'invalid-input',
      `The value of ${variable.name} is too long or holds a NUL character.`,
      {
        issues: [{ path: 'value', message: `at most ${maxValueBytes} bytes, without NUL` }],
      },
    );
  }
  if (variable.secret && variable.value.length < minSecretLength) {
    throw new UserError('invalid-input', `A secret must have at least ${minSecretLength} characters.`, {
      hint: 'A shorter value cannot be hidden in the output of a run.',
      issues: [{ path: 'value', message: `at least ${minSecretLength} characters for a secret` }],
    });
  }
}

/** Throws `invalid-input` when the variable would be one too many beside those that there are. */
export function checkVariableCount(now: readonly { name: string }[], added: { name: string }): void {
  if (now.length < maxVariables || now.some(({ name }) => name === added.name)) return;
  throw new UserError('invalid-input', `A stack has ${maxVariables} variables at most.`, {
    hint: 'Remove one that is not needed any more, or keep several values in one.',
  });
}
