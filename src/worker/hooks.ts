import { constants } from 'node:os';
import { isRefusedVariableName } from '../stacks/environment.ts';

/**
 * Sourced by bash before a hook because BASH_ENV names it, so that the hook's own argument vector stays
 * `bash -c <hook>`. At the end it leaves what the hook exported anew or changed in the output directory, and
 * nothing it was given: secrets of the environment must not touch the disk. Of what it was given and exports
 * no longer, it leaves the name, as `=NAME`. A trap, not a last line: hooks
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
  local -A left=()
  while IFS= read -r name; do
    left[$name]=1
    if [[ ! -v __slipway_given[$name] || \${__slipway_given[$name]} != "\${!name}" ]]; then
      printf '%s=%s\\0' "$name" "\${!name}"
    fi
  done < <(compgen -e) > "$SLIPWAY_EXPORTS"
  for name in "\${!__slipway_given[@]}"; do
    if [[ ! -v left[$name] ]]; then printf '=%s\\0' "$name"; fi
  done >> "$SLIPWAY_EXPORTS"
}
trap __slipway_leave EXIT
`;

export const exportsFile = 'exports';
/** A hook that exports more is broken or hostile. */
export const maxExportsBytes = 1024 * 1024;

/** Linux starts no program with a variable of 128 KiB or more. */
const maxValueBytes = 65_536;

export interface HookExports {
  readonly carried: Readonly<Record<string, string>>;
  /** Names that were given to it and that it exports no longer. */
  readonly unset: readonly string[];
  /** What must not reach the following commands, with the reason. */
  readonly refused: readonly { readonly name: string; readonly reason: string }[];
}

/** bash sets these by itself; they are nobody's export. */
const ofBash = new Set(['_', 'SHLVL', 'PWD', 'OLDPWD', 'BASH_ENV', 'SLIPWAY_EXPORTS']);

/** What a hook exported beyond what it was given. `PATH` may be changed: that is how a virtualenv works. */
export function readExports(left: Uint8Array, refusedByVendor: (name: string) => boolean): HookExports {
  const carried: Record<string, string> = {};
  const unset: string[] = [];
  const refused: { name: string; reason: string }[] = [];
  for (const [name, value] of parseEnvironment(left)) {
    if (ofBash.has(name)) continue;
    if (value === null) unset.push(name);
    else if (name !== 'PATH' && (isRefusedVariableName(name) || refusedByVendor(name)))
      refused.push({ name, reason: 'the name is reserved' });
    else if (Buffer.byteLength(value) > maxValueBytes)
      refused.push({ name, reason: `it is longer than ${maxValueBytes} bytes` });
    else carried[name] = value;
  }
  return { carried, unset, refused };
}

/** Null for a name that is no longer exported. */
function parseEnvironment(bytes: Uint8Array): ReadonlyMap<string, string | null> {
  const variables = new Map<string, string | null>();
  for (const entry of Buffer.from(bytes).toString('utf8').split('\0')) {
    const at = entry.indexOf('=');
    if (at === 0) variables.set(entry.slice(1), null);
    if (at > 0) variables.set(entry.slice(0, at), entry.slice(at + 1));
  }
  return variables;
}

/** What the author of a failed hook can do, by the conventions of shells. */
export function hookHint(exitCode: number): string {
  switch (exitCode) {
    case 126:
      return 'A file it calls is not executable: see its output in the log, then `chmod +x` and commit it.';
    case 127:
      return 'A program it calls is not there: see its output in the log. Install it in the hook, or on the server below /usr.';
    case 128 + constants.signals.SIGKILL:
      return 'It was killed: by something in the run itself, or for want of memory.';
    case 128 + constants.signals.SIGXFSZ:
      return 'It wrote a file larger than a run may.';
    default:
      return 'Its output stands in the log of the run.';
  }
}
