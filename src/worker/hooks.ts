import { isRefusedVariableName } from '../stacks/environment.ts';

/**
 * Sourced by bash before a hook because BASH_ENV names it, so that the hook's own argument vector stays
 * `bash -c <hook>`. It leaves the exported variables in the output directory: those the hook was given, of
 * which only the sandbox knows all, and those at its end. A trap, not a last line: hooks may `exit`.
 * (Needs a standard input that is no socket: on one, bash reads ~/.bashrc and not BASH_ENV.)
 * `command -p` finds env whatever the hook made of PATH. A hook that sets a trap on EXIT itself, or ends in
 * `exec`, exports nothing.
 */
export const hookPrologue = `unset BASH_ENV
command -p env -0 > "$SLIPWAY_EXPORTS.given"
trap 'command -p env -0 > "$SLIPWAY_EXPORTS"' EXIT
`;

export const exportsFile = 'exports';
export const givenFile = `${exportsFile}.given`;
/** A hook that exports more is broken or hostile. */
export const maxExportsBytes = 1024 * 1024;

export interface HookExports {
  readonly carried: Readonly<Record<string, string>>;
  /** Names that were exported but must not reach the following commands. */
  readonly refused: readonly string[];
}

/** bash sets these by itself; they are nobody's export. */
const ofBash = new Set(['_', 'SHLVL', 'PWD', 'OLDPWD', 'BASH_ENV', 'SLIPWAY_EXPORTS']);

/**
 * What a hook exported beyond what it was given; both as `env -0` writes it. `PATH` may be changed: that is
 * how a virtualenv works.
 */
export function readExports(
  left: Uint8Array,
  given: Uint8Array,
  refusedByVendor: (name: string) => boolean,
): HookExports {
  const before = parseEnvironment(given);
  const carried: Record<string, string> = {};
  const refused: string[] = [];
  for (const [name, value] of parseEnvironment(left)) {
    if (ofBash.has(name) || before.get(name) === value) continue;
    if (name !== 'PATH' && (isRefusedVariableName(name) || refusedByVendor(name))) refused.push(name);
    else carried[name] = value;
  }
  return { carried, refused };
}

function parseEnvironment(bytes: Uint8Array): ReadonlyMap<string, string> {
  const variables = new Map<string, string>();
  for (const entry of Buffer.from(bytes).toString('utf8').split('\0')) {
    const at = entry.indexOf('=');
    if (at > 0) variables.set(entry.slice(0, at), entry.slice(at + 1));
  }
  return variables;
}
