/** `npm run demo`: a whole installation on this machine, a guided run, and the API left open. */
import { parseArgs } from 'node:util';
import { type Installation, startInstallation } from './installation.ts';
import { createNarrator, type Narrator, seconds } from './narrator.ts';
import { prove } from './proof.ts';
import { tellStory } from './story.ts';

const help = `Usage: npm run demo [-- --once] [-- --keep]

Starts a stand-in GitHub, Slipway on SQLite, and a webhook receiver in Python on 127.0.0.1; pushes three commits to a
repository with a Pulumi program in YAML and one in JavaScript, one more with a program of Terraform where that is installed; shows every command and every webhook. Then it stays
open, with curl commands to try, until Ctrl-C. Nothing outside a temporary directory is changed.

  --once   check what was shown, and end: exit code 0 when all of it was seen
  --keep   leave the temporary directory (database, logs, state, repository) where it is
  --help   this text

The JavaScript program runs \`npm ci\` in the sandbox, so the npm registry must be reachable.`;

/** Of everything until the demo stays open. */
const storyWithinMs = 15 * 60_000;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { once: { type: 'boolean' }, keep: { type: 'boolean' }, help: { type: 'boolean' } },
  });
  if (values.help) {
    console.log(help);
    return 0;
  }
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // Whoever asks a second time does not want to wait for a clean end.
      if (stop.signal.aborted) process.exit(130);
      stop.abort(new Error(`stopped by ${signal}`));
    });
  }
  stopWithNpm(stop);
  const limit = setTimeout(() => stop.abort(new Error('the demo took too long')), storyWithinMs).unref();
  const narrator = createNarrator((line) => console.log(line));
  const startedAtMs = Date.now();
  narrator.title('Slipway demo: a push becomes a real pulumi run and signed webhooks\n');

  await using installation = await startInstallation({
    onReceived: (received) => narrator.webhook(received),
    signal: stop.signal,
    isKept: values.keep ?? false,
  });
  tellPlaces(installation, narrator, values.keep ?? false);
  let areAllTrue = false;
  try {
    areAllTrue = await tellAndProve(installation, narrator, stop.signal);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    narrator.plain(`\nThe story broke off: ${text}`);
  }
  clearTimeout(limit);
  narrator.plain(`\nTook ${seconds(Date.now() - startedAtMs)}.`);
  if (!areAllTrue && !stop.signal.aborted) await tellServerLog(installation, narrator);
  if (!values.once && !stop.signal.aborted) await stayOpen(installation, narrator, stop.signal);
  narrator.plain('\nStopping; a phase that runs may end first.');
  return areAllTrue ? 0 : 1;
}

/** `npm run` that is ended by a signal ends its shell, and tells us nothing: we would stay behind with all we started. */
function stopWithNpm(stop: AbortController): void {
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const shell = process.ppid;
  setInterval(() => {
    if (process.ppid !== shell) stop.abort(new Error('npm is gone'));
  }, 1000).unref();
}

function tellPlaces(
  { dir, dataDir, github, server, receiver }: Installation,
  narrator: Narrator,
  isKept: boolean,
) {
  narrator.fact('Slipway', `${server.url}  (process ${server.pid}, log ${server.logPath})`);
  narrator.fact('GitHub', `${github.url}  (stand-in, real git; repositories in ${dir}/github)`);
  narrator.fact('receiver', `${receiver.url}  (Python, process ${receiver.pid})`);
  narrator.fact('DATA_DIR', `${dataDir}${isKept ? '' : '  (removed at the end; --keep leaves it)'}`);
}

async function tellAndProve(
  installation: Installation,
  narrator: Narrator,
  signal: AbortSignal,
): Promise<boolean> {
  const told = await tellStory(installation, narrator, signal);
  const checks = await prove(installation, told);
  narrator.plain('\nOn GitHub');
  for (const { name, headSha, conclusion, output } of installation.github.checkRuns) {
    narrator.plain(`  ${name.padEnd(19)} ${headSha.slice(0, 7)}  ${conclusion}: ${output?.title ?? ''}`);
  }
  narrator.plain('\nChecked');
  for (const { claim, problems } of checks) {
    narrator.plain(`  ${problems.length === 0 ? 'yes' : 'NO '}  ${claim}`);
    for (const problem of problems) narrator.plain(`       ${problem}`);
  }
  return checks.every(({ problems }) => problems.length === 0);
}

async function tellServerLog({ server }: Installation, narrator: Narrator): Promise<void> {
  narrator.plain(`\nThe end of ${server.logPath}:`);
  narrator.plain((await server.log()).trimEnd().split('\n').slice(-30).join('\n'));
}

async function stayOpen(
  { server, token }: Installation,
  narrator: Narrator,
  signal: AbortSignal,
): Promise<void> {
  const api = `${server.url}/api/v1`;
  narrator.chapter(
    'Everything stays open until Ctrl-C. To try (each state change appears here as a webhook):',
  );
  narrator.plain(`
  export TOKEN=${token}
  curl -s -H "authorization: Bearer $TOKEN" ${api}/stacks
  curl -s -H "authorization: Bearer $TOKEN" ${api}/stacks/acme/yaml/runs
  curl -s -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' \\
       -d '{"type": "DESTROY"}' ${api}/stacks/acme/yaml/runs
  curl -s -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' \\
       -d '{"confirmation": "yaml"}' ${api}/runs/<id of the run>/confirm
  curl -s -H "authorization: Bearer $TOKEN" ${api}/runs/<id of the run>/logs
`);
  await new Promise<void>((resolve) => {
    // A pending promise alone does not keep the process; the servers do.
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(`demo: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode =
    error instanceof TypeError && `${'code' in error && error.code}`.startsWith('ERR_PARSE') ? 2 : 1;
}
