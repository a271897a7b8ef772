/** Checks the whole story from outside: API, receiver, GitHub, and what lies on the disk. */
import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import type { StateChange } from './api-objects.ts';
import type { Installation } from './installation.ts';
import { findLeaks } from './leaks.ts';
import type { Received } from './receiver.ts';
import type { ToldRun } from './run-of-story.ts';
import type { Told } from './story.ts';
import { waitFor } from './wait.ts';

export interface Check {
  readonly claim: string;
  /** What speaks against it; none: it holds. */
  readonly problems: readonly string[];
}

export async function prove(installation: Installation, told: Told): Promise<readonly Check[]> {
  const { runs } = told;
  return [
    { claim: 'every run went as told', problems: told.missing },
    {
      claim: `each of the ${runs.length} runs passed its states, versions without a gap`,
      problems: await problemsOf(runs, (run) => stateProblems(installation, run)),
    },
    {
      claim: 'each state change was delivered once, in order, with both signatures right',
      problems: await problemsOf(runs, (run) => webhookProblems(installation, run)),
    },
    {
      claim: 'each webhook body conforms to docs/webhook-payload.schema.json',
      problems: await schemaProblems(installation.receiver.received),
    },
    {
      claim: 'each run has one check run on its commit, concluded as the run ended',
      problems: await problemsOf(runs, (run) => checkRunProblems(installation, run)),
    },
    {
      claim:
        'no secret is in DATA_DIR (the state of Terraform keeps its own), a log, a check run or a webhook',
      problems: await findLeaks(installation, told),
    },
    { claim: 'the server logged no error', problems: await loggedErrors(installation) },
  ];
}

async function problemsOf(
  runs: readonly ToldRun[],
  look: (run: ToldRun) => Promise<readonly string[]>,
): Promise<string[]> {
  const found: string[] = [];
  for (const run of runs) {
    for (const problem of await look(run)) found.push(`${run.stack.id}, run ${run.runId}: ${problem}`);
  }
  return found;
}

const numbered = (states: readonly { stateVersion: number | null; state: string | null }[]): string =>
  states.map(({ stateVersion, state }) => `${stateVersion} ${state}`).join(', ');

async function stateProblems({ api }: Installation, { runId, expected }: ToldRun): Promise<string[]> {
  const wanted = expected.map((state, index) => ({ state, stateVersion: index + 1 }));
  const passed = await api.states(runId);
  if (numbered(passed) === numbered(wanted)) return [];
  return [`passed ${numbered(passed)} instead of ${numbered(wanted)}`];
}

async function webhookProblems({ api, receiver }: Installation, { runId }: ToldRun): Promise<string[]> {
  const passed: StateChange[] = await api.states(runId);
  try {
    await receiver.waitForVersions(runId, passed.length);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
  const received = receiver.of(runId);
  const problems: string[] = [];
  if (numbered(received) !== numbered(passed)) {
    problems.push(`received ${numbered(received)} instead of ${numbered(passed)}`);
  }
  const unverified = received.filter((each) => !each.verified || !each.verified256);
  if (unverified.length > 0) problems.push(`wrong signatures on ${numbered(unverified)}`);
  return problems;
}

async function schemaProblems(received: readonly Received[]): Promise<string[]> {
  const path = new URL('../docs/webhook-payload.schema.json', import.meta.url);
  const ajv = new Ajv2020({ allErrors: true });
  const conforms = ajv.compile(JSON.parse(await readFile(path, 'utf8')));
  if (received.length === 0) return ['no webhook was received'];
  return received.flatMap(({ body, run, stateVersion }) =>
    conforms(body) ? [] : [`run ${run}, version ${stateVersion}: ${ajv.errorsText(conforms.errors)}`],
  );
}

/** GitHub is told later than receivers: it is behind a rate limit. */
const checkRunWithinMs = 30_000;

async function checkRunProblems({ github, server }: Installation, run: ToldRun): Promise<string[]> {
  const ofRun = () => github.checkRuns.filter(({ externalId }) => externalId === run.runId);
  // A run that waits for a person shows as concluded too: only so does GitHub show its buttons well.
  const isConcluded = () =>
    ofRun().some(({ conclusion }) => conclusion !== null && conclusion !== 'action_required');
  try {
    await waitFor('its check run to be concluded', isConcluded, { timeoutMs: checkRunWithinMs });
  } catch {
    return [`${ofRun().length} check runs, none concluded`];
  }
  const [check, ...more] = ofRun();
  const wanted: [string, unknown, unknown][] = [
    ['further check runs', more.length, 0],
    ['name', check?.name, `slipway/${run.stack.id}`],
    ['commit', check?.headSha, run.sha],
    ['conclusion', check?.conclusion, run.expected.at(-1) === 'FINISHED' ? 'success' : 'failure'],
    ['link', check?.detailsUrl, `${server.url}/runs/${run.runId}`],
  ];
  return wanted.flatMap(([what, is, should]) => (is === should ? [] : [`${what} is ${is}, not ${should}`]));
}

/** Pino's level of errors; warnings may be about the machine. */
const errorLevel = 50;

/** A line that is not JSON is the last word of a process that broke. */
async function loggedErrors({ server }: Installation): Promise<string[]> {
  const lines = (await server.log()).split('\n').filter((line) => line !== '');
  return lines.filter((line) => !line.startsWith('{') || levelOf(line) >= errorLevel);
}

const levelOf = (line: string): number => z.object({ level: z.number() }).parse(JSON.parse(line)).level;
