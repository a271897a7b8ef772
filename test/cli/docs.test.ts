import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { placesOf } from '../../src/cli/completion/command-tree.ts';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { createProgram } from '../../src/cli/program.ts';
import { anInstallation } from '../web/installation.ts';
import { aCommandLine } from './command-line.ts';

const text = readFileSync(join(import.meta.dirname, '../../docs/cli.md'), 'utf8');

it('docs/cli.md names every command of the program, each once, and no other', async () => {
  await using installation = anInstallation();
  const program = createProgram(aCommandLine(installation).context(), () => {});
  const commands = placesOf(program)
    .filter(({ commands }) => commands.length === 0)
    .map(({ words }) => words.join(' '));
  const [, section = ''] = text.split('\n## Commands\n');
  const named = [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);

  expect(commands.length).toBeGreaterThan(50);
  expect(named.toSorted()).toEqual(commands.toSorted());
});

it('docs/cli.md lists every exit code', () => {
  const [, section = ''] = text.split('\n## Exit codes\n');
  const listed = [...(section.split('\n## ')[0]?.matchAll(/^\| (\d+) \|/gm) ?? [])].map(([, code]) =>
    Number(code),
  );

  expect(listed).toEqual(Object.values(exitCodes));
});
