/**
 * Every attack twice: on a server that starts commands as its own children, where it has to succeed (or it would prove
 * nothing), and on one with the sandbox, where it must not. All of it as root and as an unprivileged user.
 */

import { spawnSync } from 'node:child_process';
import { accessSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { controls } from './attacks/controls.ts';
import { attacks } from './attacks.ts';
import { type Arena, isRoot, program, startArena } from './launch.ts';

/** One for each server, because the kernel counts some things by user. */
const unprivileged = isRoot ? { plain: 60_001, bubblewrap: 60_002 } : { plain: null, bubblewrap: null };
const users = [
  {
    name: 'root',
    uids: { plain: null, bubblewrap: null },
    skip: isRoot ? null : 'the tests are not run by root',
  },
  {
    name: 'unprivileged user',
    uids: unprivileged,
    skip: canRead() ? null : 'user 60001 cannot read this checkout',
  },
];

function canRead(): boolean {
  accessSync(program);
  const look = ['-e', `require('fs').accessSync(${JSON.stringify(program)})`];
  return !isRoot || spawnSync(process.execPath, look, { uid: 60_001, gid: 60_001 }).status === 0;
}

describe.each(users)('as $name', ({ name, uids, skip }) => {
  const table: string[] = [];
  let plain: Arena;
  let sandboxed: Arena;
  beforeAll(async () => {
    if (skip !== null) return;
    [plain, sandboxed] = await Promise.all([
      startArena('plain', uids.plain),
      startArena('bubblewrap', uids.bubblewrap),
    ]);
  });
  afterAll(async () => {
    await Promise.all([plain?.[Symbol.asyncDispose](), sandboxed?.[Symbol.asyncDispose]()]);
    const lines = skip === null ? table : [`SKIPPED, all of it: ${skip}`];
    process.stdout.write(`\nAttacks as ${name} (without a sandbox, with it)\n${lines.join('\n')}\n\n`);
  });

  it.skipIf(skip === null)(`is skipped: ${skip}`, () => {});

  it.skipIf(skip !== null).for(controls)('what is allowed is seen: $title', async ({ id }, context) => {
    const inside = await sandboxed.attempt(id);
    if (inside.skipped !== null) context.skip(inside.skipped);

    expect(inside).toMatchObject({ skipped: null, succeeded: true });
  });

  it.skipIf(skip !== null).for(attacks)('$id: $title', async ({ id, title }, context) => {
    const [without, inside] = await Promise.all([plain.attempt(id), sandboxed.attempt(id)]);
    if (without.skipped !== null) {
      table.push(`SKIPPED    SKIPPED  ${id}: ${without.skipped}`);
      context.skip(without.skipped);
    }
    table.push(
      `${without.succeeded ? 'succeeds  ' : 'FAILS     '} ${inside.succeeded ? 'SUCCEEDS' : 'stopped '} ${id}: ${title}`,
    );

    expect(without, 'an attack that cannot succeed proves nothing').toMatchObject({ succeeded: true });
    expect(inside.kind, inside.output).not.toBe('unavailable');
    expect(inside).toMatchObject({ succeeded: false, trouble: null });
  });
});
