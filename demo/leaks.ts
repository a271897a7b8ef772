/** Where a secret of the story can be read by somebody who should not: on the disk, in logs, at GitHub, at the receiver. */
import type { Installation } from './installation.ts';
import { programSecrets } from './programs.ts';
import { findInDirectory, formsOf } from './secret-search.ts';
import type { Told } from './story.ts';
import { waitFor } from './wait.ts';

/** The checkout itself, which holds the programs' secrets, goes with the run; a big one takes its time. */
const clearedUpWithinMs = 60_000;

/** Terraform keeps what is sensitive in clear in its state, and its program in the demo says so. */
const isStateOfTerraform = (file: string) => /^state\/.*\.tfstate(?:\.backup)?$/.test(file);

/** One sentence for each secret and place. */
export async function findLeaks(installation: Installation, told: Told): Promise<string[]> {
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
  const isClearedUp = async () =>
    (await findInDirectory(installation.dataDir, programSecrets)).every(isStateOfTerraform);
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
    const isOfProgram = programSecrets.includes(secret);
    for (const file of files.filter((each) => !(isOfProgram && isStateOfTerraform(each))))
      found.push(`${what} is in DATA_DIR/${file}`);
    for (const [place, text] of Object.entries(places)) {
      if (forms.some((form) => text.includes(form))) found.push(`${what} is in ${place}`);
    }
  }
  return found;
}
