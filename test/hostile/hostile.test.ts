/**
 * Every attack twice: on a server that starts commands as its own children, where it has to succeed (or it would prove
 * nothing), and on one with the sandbox, where it must not. All of it as root and as an unprivileged user.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { canRead, otherUser } from '../support/other-user.ts';
import { controls } from './attacks/controls.ts';
import { attacks } from './attacks.ts';
import { type Arena, isRoot, program, startArena } from './launch.ts';

/** One for each server, because the kernel counts some things by user. */
const unprivileged = isRoot
  ? { plain: otherUser, bubblewrap: otherUser + 1 }
  : { plain: null, bubblewrap: null };
const users = [
  {
    name: 'root',
    uids: { plain: null, bubblewrap: null },
    skip: isRoot ? null : 'the tests are not run by root',
  },
  {
    name: 'unprivileged user',
    uids: unprivileged,
    skip: !isRoot || canRead(program, otherUser) ? null : `user ${otherUser} cannot read this checkout`,
  },
];

interface Siege {
  readonly name: string;
  readonly plain: Arena;
  readonly sandboxed: Arena;
}
const sieges: Siege[] = [];
const table: string[] = [];

beforeAll(async () => {
  const tried = users.filter(({ skip }) => skip === null);
  const started = tried.map(async ({ name, uids }) => {
    const arenas = [startArena('plain', uids.plain), startArena('bubblewrap', uids.bubblewrap)] as const;
    const [plain, sandboxed] = await Promise.all(arenas);
    sieges.push({ name, plain, sandboxed });
  });
  await Promise.all(started);
});
afterAll(async () => {
  await Promise.all(
    sieges.flatMap(({ plain, sandboxed }) => [plain, sandboxed].map((arena) => arena[Symbol.asyncDispose]())),
  );
  const untried = users.filter(({ skip }) => skip !== null);
  const lines = untried.map(({ name, skip }) => `SKIPPED, all of it as ${name}: ${skip}`);
  const head = `without     with the sandbox`;
  process.stdout.write(`\n${[head, ...table, ...lines].join('\n')}\n\n`);
});

it.for(users.filter(({ skip }) => skip !== null))('as $name: SKIPPED, $skip', (_user, { skip }) => skip());

it.for(controls)('what is allowed is seen: $title', async ({ id }, context) => {
  const seen = await Promise.all(sieges.map(({ sandboxed }) => sandboxed.attempt(id)));
  const [reason] = seen.map(({ skipped }) => skipped).filter((skipped) => skipped !== null);
  if (reason !== undefined) context.skip(reason);

  expect(seen).toEqual(seen.map((verdict) => ({ ...verdict, succeeded: true })));
});

it.for(attacks)('$id: $title', async ({ id, title }, context) => {
  const verdicts = await Promise.all(
    sieges.map(async ({ name, plain, sandboxed }) => {
      const [without, inside] = await Promise.all([plain.attempt(id), sandboxed.attempt(id)]);
      const skipped = without.skipped ?? inside.skipped;
      return { name, without, inside, skipped };
    }),
  );
  for (const { name, without, inside, skipped } of verdicts) {
    const said = `${without.succeeded ? 'succeeds' : 'FAILS   '}    ${inside.succeeded ? 'SUCCEEDS' : 'stopped '}`;
    table.push(
      skipped === null
        ? `${said}  ${name}: ${id} ${title}`
        : `SKIPPED               ${name}: ${id}, ${skipped}`,
    );
  }
  const tried = verdicts.filter(({ skipped }) => skipped === null);
  if (tried.length === 0) context.skip(verdicts.map(({ name, skipped }) => `${name}: ${skipped}`).join('; '));

  for (const { name, without, inside } of tried) {
    const proof = `as ${name}: an attack that cannot succeed proves nothing`;
    expect(without, proof).toMatchObject({ succeeded: true });
    expect(inside.kind, inside.output).not.toBe('unavailable');
    expect(inside, `as ${name}`).toMatchObject({ succeeded: false, trouble: null });
  }
});
