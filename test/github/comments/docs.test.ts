import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Role } from '../../../src/access/actor.ts';
import { verbFacts, verbs } from '../../../src/runs/comments/verbs.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/commands.md'), 'utf8');
const words: Readonly<Record<Role, string>> = { reader: 'read', writer: 'write', admin: 'admin' };

test.each(verbs)('the page about commands tells how %s is written and who may', (verb) => {
  const { usage, needs } = verbFacts[verb];
  const row = page
    .split('\n')
    .find((line) => line.startsWith('| `') && line.includes(`\`/slipway ${usage}\``));

  expect(row?.split(' | ')[1]).toBe(words[needs]);
});
