import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import type {
  Checked,
  Evaluation,
  EvaluationFailure,
  EvaluationRequest,
  PolicyEngine,
  SourceError,
} from './engine.ts';
import { capabilitiesFile, createOpaBinary, type OpaBinaryOptions, type ReadyOpa } from './opa-binary.ts';
import { evaluationFailure, policyFile, sourceErrors } from './opa-errors.ts';
import { type OpaJob, type OpaOutcome, tooSlow } from './opa-process.ts';
import { readSyntax } from './opa-syntax.ts';
import type { PolicySource } from './policy.ts';

/** The policy engine: the real `opa`, one process in the sandbox for each evaluation. */
export interface Opa extends PolicyEngine {
  /** Removes what evaluations of a former life have left. Before the first one. */
  sweep(): Promise<void>;
}

const mebibyte = 1024 * 1024;
const inputLimitBytes = 64 * mebibyte;
/** 10,000 messages of a line each are 2 MiB. */
const resultBytes = 8 * mebibyte;
/** The syntax tree of a body of 64 KiB has 5 MiB. */
const syntaxBytes = 16 * mebibyte;
const checkMs = 5000;
/** Between the time limit, at which opa says which line it was at, and the end of a process that does not. */
const patienceMs = 500;
/** Deeper values could not be written as JSON again. */
const deepest = 100;

const inputFile = 'input.json';
const shared = ['--capabilities', capabilitiesFile, '--format', 'json'] as const;

export function createOpa(options: OpaBinaryOptions): Opa {
  const binary = createOpaBinary(options);

  return {
    sweep: binary.sweep,

    async standing() {
      const ready = await binary.ready();
      if (ready.kind === 'unavailable') return ready;
      return { kind: 'ready', engine: ready.engine, path: ready.path };
    },

    async check(source, signal = new AbortController().signal) {
      const ready = await binary.ready();
      if (ready.kind === 'unavailable') return ready;
      const job = { ...jobOf(ready, source), timeLimitMs: checkMs, outputBytes: syntaxBytes, signal };
      const run = (...argv: string[]) =>
        ready.process.run({ ...job, argv: [...argv, ...dialect(source), policyFile] });
      const [checked, parsed] = await Promise.all([
        run('check', '--strict', '--max-errors', '50', ...shared),
        run('parse', '--format', 'json', '--json-include', 'locations,-comments'),
      ]);
      return refusal(checked) ?? refusal(parsed) ?? described(parsed);
    },

    async evaluate(request) {
      const startedMs = performance.now();
      const outcome = await evaluated(request);
      return { durationMs: Math.round(performance.now() - startedMs), ...outcome };
    },
  };

  async function evaluated(request: EvaluationRequest): Promise<Outcome> {
    const { source, rules, timeLimitMs, signal = new AbortController().signal } = request;
    const input = readInput(request.input);
    if (input.kind === 'failed') return input;
    const ready = await binary.ready();
    if (ready.kind === 'unavailable') return failed({ code: 'unavailable', message: ready.reason });
    const job = jobOf(ready, source);
    const result = await ready.process.run({
      argv: [
        ...[
          'eval',
          ...shared,
          '--strict-builtin-errors',
          '--timeout',
          `${timeLimitMs}ms`,
          ...dialect(source),
        ],
        ...['--data', policyFile, '--input', inputFile, queryFor(rules)],
      ],
      files: { ...job.files, [inputFile]: input.bytes },
      inputBytes: input.bytes.length,
      timeLimitMs: timeLimitMs + patienceMs,
      outputBytes: resultBytes,
      signal,
    });
    if (result.kind === 'failed') {
      const { failure } = result;
      return failed(failure.code === 'timeout' ? { ...failure, message: tooSlow(timeLimitMs) } : failure);
    }
    if (result.exitCode === 0) return readValues(result.stdout);
    const failure = evaluationFailure(result.stdout, result.stderr);
    return failed(failure.code === 'timeout' ? { ...failure, message: tooSlow(timeLimitMs) } : failure);
  }
}

type Outcome = DistributiveOmit<Evaluation, 'durationMs'>;
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

const failed = (failure: EvaluationFailure) => ({ kind: 'failed', failure }) as const;

const dialect = ({ regoVersion }: PolicySource): string[] => (regoVersion === 0 ? ['--v0-compatible'] : []);

const jobOf = (ready: ReadyOpa, { body }: PolicySource): Pick<OpaJob, 'files'> => ({
  files: { [policyFile]: body, [capabilitiesFile]: ready.capabilities },
});

/** Rules by name, those that are undefined left out. Only they are evaluated, and what they use. */
const queryFor = (rules: readonly string[]): string =>
  `{rule: value | rule := ${JSON.stringify(rules)}[_]; value := data.slipway[rule]}`;

/**
 * opa takes what is not JSON for YAML, which may not begin with a tab, while JSON may: with one in front it takes JSON
 * and nothing else.
 */
function readInput(
  input: string | Uint8Array,
):
  | { readonly kind: 'read'; readonly bytes: Uint8Array }
  | { readonly kind: 'failed'; readonly failure: EvaluationFailure } {
  const wrong = (message: string) => failed({ code: 'input', message });
  const size = typeof input === 'string' ? Buffer.byteLength(input) : input.length;
  if (size > inputLimitBytes)
    return wrong(`the input has ${size} bytes; ${inputLimitBytes} at most are read`);
  const isText = typeof input === 'string' ? input.isWellFormed() : isUtf8(input);
  if (!isText) return wrong('the input is not UTF-8');
  const bytes = Buffer.allocUnsafe(size + 1);
  bytes[0] = tab;
  if (typeof input === 'string') bytes.write(input, 1);
  else bytes.set(input, 1);
  return { kind: 'read', bytes };
}

const tab = 0x09;

const answer = z.object({
  result: z.tuple([
    z.object({ expressions: z.tuple([z.object({ value: z.record(z.string(), z.unknown()) })]) }),
  ]),
});

function readValues(stdout: string): Outcome {
  const parsed = answer.safeParse(parse(stdout));
  if (!parsed.success)
    return failed({ code: 'engine', message: 'opa gave another answer than was asked for' });
  const { value: values } = parsed.data.result[0].expressions[0];
  if (isDeeper(values, deepest)) {
    return failed({ code: 'output', message: `a value is nested more than ${deepest} levels deep` });
  }
  return { kind: 'evaluated', values };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

/** Why a source is not valid; null when this command had nothing against it. */
function refusal(outcome: OpaOutcome): Checked | null {
  const invalid = (errors: readonly SourceError[]): Checked => ({ kind: 'invalid', errors });
  if (outcome.kind === 'exited') {
    if (outcome.exitCode === 0) return null;
    const errors = sourceErrors(outcome.stdout, outcome.stderr);
    return invalid(errors ?? [evaluationFailure(outcome.stdout, outcome.stderr)]);
  }
  const { code, message } = outcome.failure;
  switch (code) {
    case 'timeout':
    case 'memory':
    case 'output':
      return invalid([{ message: `the policy is too large or too complex to be compiled: ${message}` }]);
    default:
      return { kind: 'unavailable', reason: message };
  }
}

function described(parsed: OpaOutcome): Checked {
  if (parsed.kind === 'failed') return { kind: 'unavailable', reason: parsed.failure.message };
  const syntax = readSyntax(parse(parsed.stdout));
  if (syntax === null)
    return { kind: 'unavailable', reason: 'what opa says about the policy cannot be read' };
  return { kind: 'valid', ...syntax };
}
