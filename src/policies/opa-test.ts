import { z } from 'zod';
import { capabilitiesFile, createOpaBinary, type OpaBinaryOptions } from './opa-binary.ts';
import { evaluationFailure } from './opa-errors.ts';
import type { RegoVersion } from './policy.ts';

/** `opa test` over files, with what policies may use and no more. */
export interface TestRequest {
  /** Policies, tests and data, by path relative to their folder. */
  readonly files: Readonly<Record<string, Uint8Array>>;
  readonly regoVersion: RegoVersion;
  readonly signal: AbortSignal;
}

export type TestReport =
  | { readonly kind: 'tested'; readonly tests: readonly TestResult[] }
  /** The files could not be compiled, or the tests did not come to their end. */
  | { readonly kind: 'broken'; readonly message: string }
  | { readonly kind: 'unavailable'; readonly reason: string };

export interface TestResult {
  /** E.g. "slipway_test.test_denies_deletes". */
  readonly name: string;
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** The cases of a test with cases that failed. */
  readonly failedCases: readonly string[];
  /** Why it failed, where there is more to say than that it was not true. */
  readonly error: string | null;
  readonly durationMs: number;
}

const wallMs = 60_000;
const reportBytes = 16 * 1024 * 1024;
/** opa loads every file of the folder it tests, so the list of capabilities lies beside it. */
const folder = 'source';

export async function testPolicies(options: OpaBinaryOptions, request: TestRequest): Promise<TestReport> {
  if (Object.keys(request.files).length === 0) return { kind: 'tested', tests: [] };
  const ready = await createOpaBinary(options).ready();
  if (ready.kind === 'unavailable') return ready;
  const files = Object.entries(request.files).map(([name, content]) => [`${folder}/${name}`, content]);
  const outcome = await ready.process.run({
    argv: [
      ...['test', '--format', 'json', '--capabilities', capabilitiesFile, '--timeout', '10s'],
      ...(request.regoVersion === 0 ? ['--v0-compatible'] : []),
      folder,
    ],
    files: { ...Object.fromEntries(files), [capabilitiesFile]: ready.capabilities },
    inputBytes: Object.values(request.files).reduce((sum, { length }) => sum + length, 0),
    timeLimitMs: wallMs,
    outputBytes: reportBytes,
    signal: request.signal,
  });
  if (outcome.kind === 'failed') {
    const { code, message } = outcome.failure;
    if (code === 'unavailable') return { kind: 'unavailable', reason: message };
    const words = code === 'timeout' ? `the tests took longer than ${wallMs / 1000} s` : message;
    return { kind: 'broken', message: words };
  }
  const { stdout, stderr } = outcome;
  const tests = readReport(stdout);
  if (tests !== null) return { kind: 'tested', tests };
  const said = [stderr, stdout].map((text) => text.trim()).find((text) => text !== '');
  const message = said?.replaceAll(`${folder}/`, '') ?? evaluationFailure(stdout, stderr).message;
  return { kind: 'broken', message: message.slice(0, messageLength) };
}

const messageLength = 4000;

const report = z.array(
  z.object({
    location: z.object({ file: z.string(), row: z.number() }),
    package: z.string(),
    name: z.string(),
    fail: z.boolean().default(false),
    skip: z.boolean().default(false),
    error: z.unknown().optional(),
    duration: z.number().default(0),
    sub_results: z.record(z.string(), z.looseObject({ fail: z.boolean().default(false) })).default({}),
  }),
);

const nanosecondsInMs = 1_000_000;

function readReport(text: string): readonly TestResult[] | null {
  if (!text.startsWith('[')) return null;
  const { success, data } = report.safeParse(JSON.parse(text));
  if (!success) return null;
  const tests = data.map(
    ({ location, fail, skip, error, duration, ...test }): TestResult => ({
      name: `${test.package.replace(/^data\./, '')}.${test.name}`,
      file: location.file.replace(new RegExp(`^${folder}/`), ''),
      line: location.row,
      outcome: skip ? 'skipped' : fail || error !== undefined ? 'failed' : 'passed',
      failedCases: Object.entries(test.sub_results).flatMap(([name, each]) => (each.fail ? [name] : [])),
      error: error === undefined ? null : errorText(error),
      durationMs: duration / nanosecondsInMs,
    }),
  );
  return tests.toSorted((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1));
}

function errorText(error: unknown): string {
  const { data } = z.looseObject({ message: z.string() }).safeParse(error);
  return data?.message ?? JSON.stringify(error);
}
