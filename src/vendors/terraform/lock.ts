import type { Rule } from './explanation.ts';

/** The tool's own lock of a state, held by another process, or left by one that was killed. */
export const lockRule: Rule = {
  pattern: /Error acquiring the state lock .{0,1000}?Lock Info: (.{0,3000})/,
  explain: ([, info = ''], { program }) => {
    const field = (name: string, next: string) => between(info, `${name}: `, `${next}:`);
    const [id, operation, who] = [field('ID', 'Path'), field('Operation', 'Who'), field('Who', 'Version')];
    const created = field('Created', 'Info');
    // That of a file goes with the process that holds it, and nobody else can release it.
    const isOfFile = field('Path', 'Operation').startsWith('/');
    const lockId = !isOfFile && lockIdPattern.test(id) ? id : null;
    const holder = who.slice(0, maxHolderLength) || null;
    const sinceMs = momentOf(created);
    const since = sinceMs === null ? '' : `, since ${new Date(sinceMs).toISOString().slice(0, 19)}Z`;
    const doing = operation.replace(/^OperationType/, '').toLowerCase();
    const details = [holder, doing].filter(Boolean).join(': ');
    return {
      message: `Another process holds the lock of the stack's state${details === '' ? '' : ` (${details}${since})`}. Nothing was changed.`,
      hint: isOfFile
        ? 'Wait until it is done, then retry.'
        : lockId === null
          ? 'If it is still at work, wait and retry. If it was killed, release the lock at the backend and retry.'
          : `If it is still at work, wait and retry. If it was killed, run the task \`${program} force-unlock -force ${lockId}\` and retry.`,
      trouble: { kind: 'state-locked', lockId, holder, sinceMs },
    };
  },
};

/** "" when one of the two is not there. */
function between(text: string, before: string, after: string): string {
  const start = text.indexOf(before);
  const end = text.indexOf(after, start + before.length);
  return start === -1 || end === -1 ? '' : text.slice(start + before.length, end).trim();
}

/** It may come to stand in a command. A UUID, the generation of an object in Google's storage, a remote workspace. */
const lockIdPattern =
  /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d{1,20}|\w[\w-]{0,89}\/\w[\w-]{0,89})$/;
const maxHolderLength = 200;

/** `2026-11-22 12:38:35.254099923 +0000 UTC` */
function momentOf(created: string): number | null {
  const [, day, time, offset] =
    /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.\d+)? ([+-]\d{4})\b/.exec(created) ?? [];
  if (day === undefined || offset === undefined) return null;
  const ms = Date.parse(`${day}T${time}${offset.slice(0, 3)}:${offset.slice(3)}`);
  return Number.isNaN(ms) ? null : ms;
}
