import type { Command } from 'commander';
import type { TestReport, TestResult } from '../policies/opa-test.ts';
import { type CliContext, configOf } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { CliFailure } from './failure.ts';
import { oneLine, outputOf } from './output.ts';

/** `slipway policy test`: runs the tests of a folder of policies as the server would evaluate them. */
export function addPolicyTestCommand(policy: Command, context: CliContext): void {
  policy
    .command('test')
    .description('run the tests of a folder of policies (opa test); needs opa, and no server')
    .argument('<folder>', 'policies, their tests (rules named test_...) and data')
    .option('--v0', 'they are written in Rego v0')
    .action(async (folder: string, { v0 }: { readonly v0?: boolean }, command: Command) => {
      const request = { folder, regoVersion: v0 ? 0 : 1, signal: context.interrupted() } as const;
      const report = await context.testPolicies(configOf(context), request);
      if (report.kind === 'unavailable') throw new CliFailure(exitCodes.failed, report.reason);
      // Where nothing was tested, nothing is proven.
      if (report.kind === 'tested' && report.tests.length === 0) {
        throw new CliFailure(exitCodes.failed, `${folder}: no tests`, {
          hint: 'A test is a rule whose name begins with test_, in a file that ends in .rego.',
        });
      }
      const ok = report.kind === 'tested' && report.tests.every(({ outcome }) => outcome !== 'failed');
      outputOf(context, command).result({ ok, folder, ...report }, () => described(report));
      // The report says it all; nothing is printed on top of it.
      if (!ok) throw new CliFailure(exitCodes.failed, '');
    });
}

const marks = { passed: 'ok', failed: 'FAIL', skipped: 'skip' } as const;

function described(report: Exclude<TestReport, { kind: 'unavailable' }>): string {
  if (report.kind === 'broken') return report.message.split('\n').map(oneLine).join('\n');
  const count = (wanted: TestResult['outcome']) =>
    report.tests.filter(({ outcome }) => outcome === wanted).length;
  const sum = `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`;
  return [...report.tests.map(lineOf), '', sum].join('\n');
}

function lineOf({ outcome, name, file, line, durationMs, failedCases, error }: TestResult): string {
  const cases = failedCases.length === 0 ? '' : `: ${failedCases.join(', ')}`;
  const why = error === null ? '' : `: ${error}`;
  return oneLine(
    `${marks[outcome].padEnd(4)}  ${file}:${line}  ${name} (${durationMs.toFixed(1)} ms)${cases}${why}`,
  );
}
