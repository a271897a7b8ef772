import { type HeldLock, heldLockMessage } from '../held-lock.ts';
import type { Rule } from './explanation.ts';

/** The tool's own lock of a state, held by another process, or left by one that was killed. */
export const lockRule: Rule = {
  pattern: /Error acquiring the state lock (.{0,1000}?)Lock Info: (.{0,3000})/,
  explain: ([, message = '', info = ''], { program }) => {
    // Over HTTP the tool has only the id of the other's lock; what it calls the lock's info is that of its own request.
    const otherId = /remote state already locked: ?ID=(\S+)/.exec(message)?.[1];
    const field = (name: string, next: string) =>
      otherId === undefined ? between(info, `${name}: `, `${next}:`) : '';
    const id = otherId ?? field('ID', 'Path');
    // That of a file goes with the process that holds it, and nobody else can release it.
    const isOfFile = field('Path', 'Operation').startsWith('/');
    const lockId = !isOfFile && lockIdPattern.test(id) ? id : null;
    const holder = field('Who', 'Version').slice(0, maxHolderLength) || null;
    const sinceMs = momentOf(field('Created', 'Info'));
    const trouble: HeldLock = { kind: 'state-locked', lockId, holder, sinceMs };
    return {
      message: `${heldLockMessage(trouble, Date.now())} Nothing was changed.`,
      hint: isOfFile
        ? 'Wait until it is done, then retry.'
        : lockId === null
          ? 'If it is still at work, wait and retry. If it was killed, release the lock at the backend and retry.'
          : `If it is still at work, wait and retry. If it was killed, an administrator releases the lock (\`${program} force-unlock -force ${lockId}\`) first.`,
      trouble,
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
