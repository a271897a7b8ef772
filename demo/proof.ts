/** Checks the whole story from outside: API, receiver, GitHub, and what lies on the disk. */
import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { StateChange } from './api-objects.ts';
import type { Installation } from './installation.ts';
import { programSecrets } from './programs.ts';
import type { Received } from './receiver.ts';
import { findInDirectory, formsOf } from './secret-search.ts';
import type { Told, ToldRun } from './story.ts';
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
      claim: 'each run has one check run on its commit, concluded with success',
      problems: await problemsOf(runs, (run) => checkRunProblems(installation, run)),
    },
    {
      claim: 'no secret is in DATA_DIR, a log, a check run or a webhook',
      problems: await leaks(installation, told),
    },
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
    ['conclusion', check?.conclusion, 'success'],
    ['link', check?.detailsUrl, `${server.url}/runs/${run.runId}`],
  ];
  return wanted.flatMap(([what, is, should]) => (is === should ? [] : [`${what} is ${is}, not ${should}`]));
}

/** The checkout itself, which holds the programs' secrets, goes with the run; a big one takes its time. */
const clearedUpWithinMs = 60_000;

async function leaks(installation: Installation, told: Told): Promise<string[]> {
  const { api, receiver, github, server, token, githubSecret } = installation;
  const secrets = {
    'the passphrase': told.passphrase,
    "the webhook's secret": receiver.secret,
    'the API token': token,
    "GitHub's webhook secret": githubSecret,
    ...Object.fromEntries(programSecrets.map((secret) => [`the program's "${secret}"`, secret])),
  };
  const logs = await Promise.all(told.runs.map(({ runId }) => api.log(runId)));
  const places = {
    'the log of a run': logs.join('\n'),
    'the log of the server': await server.log(),
    'a check run': JSON.stringify(github.checkRuns.map(({ history, output }) => [history, output])),
    'a webhook': JSON.stringify(receiver.received.map(({ body }) => body)),
    'a request to GitHub': JSON.stringify(github.requests),
  };
  const isClearedUp = async () => (await findInDirectory(installation.dataDir, programSecrets)).length === 0;
  const cleared = waitFor('the workspaces to go', isClearedUp, {
    timeoutMs: clearedUpWithinMs,
    intervalMs: 500,
  });
  // What is still there is named below.
  await cleared.catch(() => undefined);
  const found: string[] = [];
  for (const [what, secret] of Object.entries(secrets)) {
    const forms = formsOf(secret);
    const files = await findInDirectory(installation.dataDir, forms);
    for (const file of files) found.push(`${what} is in DATA_DIR/${file}`);
    for (const [place, text] of Object.entries(places)) {
      if (forms.some((form) => text.includes(form))) found.push(`${what} is in ${place}`);
    }
  }
  return found;
}
