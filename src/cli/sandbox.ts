import type { Command } from 'commander';
import type { SelfTestResult } from '../sandbox/self-test.ts';
import { type CliContext, configOf } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { CliFailure } from './failure.ts';
import { indented, oneLine, outputOf } from './output.ts';

const help = `
Tries the sandbox as a start of the server does: with the settings of .env, in DATA_DIR, as the user who calls it. It needs no
GitHub App and no server, and disturbs none that runs.
Exit code 0: every probe passed, runs can be executed (SANDBOX=none passes, with a warning). 1: one did not; what to do is below it.`;

/** `slipway sandbox self-test`: what the server asks of its sandbox before it executes anything. */
export function addSandboxCommands(sandbox: Command, context: CliContext): void {
  sandbox
    .command('self-test')
    .description('try the sandbox on this machine; needs no server')
    .addHelpText('after', help)
    .action(async (_options: object, command: Command) => {
      const startedMs = performance.now();
      const tested = await context.testSandbox(configOf(context));
      const durationMs = Math.round(performance.now() - startedMs);
      outputOf(context, command).result({ ...tested, durationMs }, () => described(tested, durationMs));
      // The report says it all; nothing is printed on top of it.
      if (!tested.ok) throw new CliFailure(exitCodes.failed, '');
    });
}

function described({ tier, version, items, warnings }: SelfTestResult, durationMs: number): string {
  const width = Math.max(0, ...items.map(({ name }) => name.length));
  const lines = items.flatMap(({ name, ok, detail, fix }) => [
    `${ok ? 'ok  ' : 'FAIL'}  ${name.padEnd(width)}  ${oneLine(detail)}`,
    ...(fix === null ? [] : indented(fix, width + 8)),
  ]);
  const failures = items.filter(({ ok }) => !ok).length;
  const sum = failures === 0 ? 'all passed' : `${failures} failed: no run is executed`;
  const seconds = (durationMs / 1000).toFixed(1);
  return [
    ...lines,
    ...warnings.map((warning) => `WARN  ${oneLine(warning)}`),
    '',
    `${version === null ? '' : `bubblewrap ${version}, `}${tier}: ${items.length} ${items.length === 1 ? 'probe' : 'probes'} in ${seconds} s, ${sum}`,
  ].join('\n');
}
