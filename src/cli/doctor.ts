import type { Command } from 'commander';
import type { DoctorReport } from '../web/health.ts';
import { type CliContext, configOf, openLocal } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { CliFailure } from './failure.ts';
import { indented, oneLine, outputOf } from './output.ts';

const marks = { ok: 'ok', warning: 'WARN', problem: 'FAIL' } as const;

/** `slipway doctor`: whether this machine can execute runs, and what to do where it cannot. */
export function addDoctorCommand(program: Command, context: CliContext): void {
  program
    .command('doctor')
    .description('check this machine: versions, sandbox, database, tools')
    .option('--github', 'ask GitHub too: credentials, permissions, events, webhook, installations')
    .action(async ({ github }: { readonly github?: boolean }, command: Command) => {
      const output = outputOf(context, command);
      await using app = await openLocal(context, configOf(context));
      const report = await app.doctor({ withGithub: github === true });
      output.result(report, () => described(report));
      // The report says it all; nothing is printed on top of it.
      if (!report.ok) throw new CliFailure(exitCodes.failed, '');
    });
}

function described({ items }: DoctorReport): string {
  const width = Math.max(0, ...items.map(({ name }) => name.length));
  return items
    .flatMap(({ name, status, detail, hint }) => [
      `${marks[status].padEnd(4)}  ${name.padEnd(width)}  ${oneLine(detail)}`,
      ...(hint === undefined || status === 'ok' ? [] : indented(hint, width + 8)),
    ])
    .join('\n');
}
