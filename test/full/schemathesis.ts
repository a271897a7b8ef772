/** Schemathesis against a server that runs: what it is told, and what it found. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { z } from 'zod';
import { toolCacheDir } from '../../src/tools.ts';
import { findSchemathesis } from '../../tools/schemathesis.ts';

export interface SchemathesisRun {
  /** Of the server, without a trailing slash. */
  readonly url: string;
  readonly token: string;
  /** What its configuration file (TOML) says, as JSON. */
  readonly config: Config;
  /** Command line: which operations, which phases. */
  readonly args?: readonly string[];
  readonly maxExamples: number;
}

export type Config = Readonly<Record<string, unknown>>;

export interface Findings {
  /** Null when it found nothing, else all that it said. */
  readonly failures: string | null;
  /** Each operation (`METHOD /template`) with the statuses that it answered with. */
  readonly answers: ReadonlyMap<string, ReadonlySet<number>>;
}

const hooks = fileURLToPath(new URL('schemathesis_checks.py', import.meta.url));
/** Of one run: about half a minute on a quiet machine. */
export const withinMs = 500_000;

export async function runSchemathesis(run: SchemathesisRun): Promise<Findings> {
  const cacheDir = toolCacheDir(homedir(), process.env['XDG_CACHE_HOME']);
  const found = await findSchemathesis(cacheDir);
  if (found === null) throw new Error('schemathesis is not installed: npm run setup -- --with schemathesis');
  const dir = await mkdtemp(join(tmpdir(), 'slipway-schemathesis-'));
  try {
    const configFile = join(dir, 'schemathesis.toml');
    await writeFile(configFile, toml({ ...common, ...run.config, hooks }));
    const header = `Authorization: Bearer ${run.token}`;
    const report = join(dir, 'report.ndjson');
    const args = ['--config-file', configFile, 'run', `${run.url}/api/v1/openapi.json`, '--header', header];
    const result = await execa(
      found.path,
      [
        ...args,
        ...(run.args ?? []),
        '--max-examples',
        String(run.maxExamples),
        '--report-ndjson-path',
        report,
      ],
      { cwd: dir, all: true, reject: false, timeout: withinMs, env: { PYTHONDONTWRITEBYTECODE: '1' } },
    );
    if (result.timedOut) throw new Error(`schemathesis took more than ${withinMs} ms:\n${result.all}`);
    return {
      failures: result.exitCode === 0 ? null : result.all,
      answers: answersIn(await readFile(report, 'utf8')),
    };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** The same requests in each run; nothing is kept from one run to the next. */
const common: Config = {
  seed: 1,
  color: false,
  'continue-on-failure': true,
  'request-timeout': 20,
  cache: { enabled: false },
  // Patterns that nothing can be made from would leave out an operation in silence.
  warnings: { 'fail-on': ['unsupported_regex'] },
  generation: { database: 'none', 'no-shrink': true },
};

const event = z.object({
  ScenarioFinished: z
    .object({
      recorder: z.object({
        cases: z
          .record(z.string(), z.object({ value: z.object({ method: z.string(), path: z.string() }) }))
          .default({}),
        interactions: z
          .record(z.string(), z.object({ response: z.object({ status_code: z.number() }).nullish() }))
          .default({}),
      }),
    })
    .optional(),
});

/** `report`: an event on each line; those of a scenario carry its requests and their answers. */
function answersIn(report: string): Map<string, Set<number>> {
  const answers = new Map<string, Set<number>>();
  for (const line of report.split('\n').filter((each) => each !== '')) {
    const { ScenarioFinished: scenario } = event.parse(JSON.parse(line));
    for (const [id, { response }] of Object.entries(scenario?.recorder.interactions ?? {})) {
      const sent = scenario?.recorder.cases[id]?.value;
      if (!sent || !response) continue;
      const operation = `${sent.method} ${sent.path}`;
      answers.set(operation, (answers.get(operation) ?? new Set()).add(response.status_code));
    }
  }
  return answers;
}

/** The values that a configuration needs: JSON's strings, numbers and lists are TOML's. */
function toml(config: Config): string {
  return Object.entries(config)
    .map(([key, value]) => `${key} = ${tomlValue(value)}`)
    .join('\n');
}

function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)} = ${tomlValue(each)}`);
  return `{ ${entries.join(', ')} }`;
}
