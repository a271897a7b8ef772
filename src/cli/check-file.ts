import type { Command } from 'commander';
import type { CheckedFile, CliContext } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { CliFailure } from './failure.ts';
import { readNamed } from './named-file.ts';
import { oneLine, outputOf } from './output.ts';

const usualPath = '.github/slipway.yml';

/** `slipway stack check-file`: what the server would say about a repository file, without a server. */
export function addCheckFileCommand(stack: Command, context: CliContext): void {
  stack
    .command('check-file')
    .description('check a repository file before it is pushed; needs no server')
    .argument('[path]', 'the file', usualPath)
    .action(async (path: string, _options: unknown, command: Command) => {
      const checked = await context.checkFile(await readNamed(path));
      const ok = checked.problems.length === 0;
      outputOf(context, command).result({ ok, path, ...checked }, () => described(path, checked));
      // The problems say it all; nothing is printed on top of them.
      if (!ok) throw new CliFailure(exitCodes.failed, '');
    });
}

/** As compilers print it, so that editors find the place. */
function described(path: string, { stacks, problems }: CheckedFile): string {
  if (problems.length === 0) return `${path}: ${stacks.join(', ')}`;
  return problems
    .map(({ line, column, message }) => `${path}:${line}:${column}: ${oneLine(message)}`)
    .join('\n');
}
