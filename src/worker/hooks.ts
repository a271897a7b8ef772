import { isRefusedVariableName } from '../stacks/environment.ts';

/**
 * Sourced by bash before a hook because BASH_ENV names it, so that the hook's own argument vector stays
 * `bash -c <hook>`. At the end it leaves what the hook exported anew or changed in the output directory, and
 * nothing it was given: secrets of the environment must not touch the disk. A trap, not a last line: hooks
 * may `exit`. Builtins only, whatever the hook made of PATH. A hook that sets a trap on EXIT itself, or ends
 * in `exec`, exports nothing. (Needs a standard input that is no socket: on one, bash reads ~/.bashrc and
 * not BASH_ENV.)
 */
export const hookPrologue = `unset BASH_ENV
declare -A __slipway_given=()
while IFS= read -r __slipway_name; do
  __slipway_given[$__slipway_name]=\${!__slipway_name}
done < <(compgen -e)
__slipway_leave() {
  set +eux
  local IFS name
  while IFS= read -r name; do
    if [[ ! -v __slipway_given[$name] || \${__slipway_given[$name]} != "\${!name}" ]]; then
      printf '%s=%s\\0' "$name" "\${!name}"
    fi
  done < <(compgen -e) > "$SLIPWAY_EXPORTS"
}
trap __slipway_leave EXIT
`;

export const exportsFile = 'exports';
/** A hook that exports more is broken or hostile. */
export const maxExportsBytes = 1024 * 1024;

export interface HookExports {
  readonly carried: Readonly<Record<string, string>>;
  /** Names that were exported but must not reach the following commands. */
  readonly refused: readonly string[];
}

/** bash sets these by itself; they are nobody's export. */
const ofBash = new Set(['_', 'SHLVL', 'PWD', 'OLDPWD', 'BASH_ENV', 'SLIPWAY_EXPORTS']);

/** What a hook exported beyond what it was given. `PATH` may be changed: that is how a virtualenv works. */
export function readExports(left: Uint8Array, refusedByVendor: (name: string) => boolean): HookExports {
  const carried: Record<string, string> = {};
  const refused: string[] = [];
  for (const [name, value] of parseEnvironment(left)) {
    if (ofBash.has(name)) continue;
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
