import { UserError } from '../user-error.ts';

/**
 * What git's words mean, in the one place that reads them. Each pattern has a test with git's real output;
 * text that none of them knows still fails the fetch, only with a vaguer hint.
 */
const meanings: readonly { pattern: RegExp; message: string; hint: string }[] = [
  {
    pattern: /not our ref|unadvertised object|remote ref .*not found|couldn't find remote ref/i,
    message: 'The commit is no longer in the repository.',
    hint: 'A forced push may have removed it. Push again, or start a run of a commit that exists.',
  },
  {
    pattern:
      /Authentication failed|could not read Username|error: 40[13]\b|Repository not found|repository '.*' not found/i,
    message: 'GitHub refused to give the repository out.',
    hint: 'Check on GitHub that the App is still installed there and may read contents.',
  },
  {
    pattern:
      /Could not resolve host|Failed to connect|Couldn't connect|Connection (refused|reset|timed out)|SSL|certificate|early EOF|RPC failed|error: 5\d\d\b|unexpected disconnect|Empty reply/i,
    message: 'GitHub could not be reached by git.',
    hint: 'Retry the run. Check the network of the server, and CA_BUNDLE when a proxy or GitHub Enterprise has its own authority.',
  },
  {
    pattern: /No space left on device|Disk quota exceeded/i,
    message: 'The disk of the server is full.',
    hint: 'Make room in DATA_DIR, then retry the run.',
  },
  {
    pattern: /^(ENOENT|EACCES)$/,
    message: 'git could not be started on the server.',
    hint: 'Install git and see that it is on the PATH of the server.',
  },
];

/** `stderr` is git's, or the system's word for why it did not start. Secrets do not pass. */
export function gitFailure(stderr: string, secrets: readonly string[]): UserError {
  const known = meanings.find(({ pattern }) => pattern.test(stderr));
  return new UserError('source-unavailable', known?.message ?? 'git could not fetch the commit.', {
    hint: known?.hint ?? 'The log of the server has the words of git. Retry the run.',
    cause: new Error(scrub(stderr, secrets)),
  });
}

function scrub(text: string, secrets: readonly string[]): string {
  const withoutSecrets = secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
  // Tokens that are not ours to know, e.g. in a message of a proxy.
  return withoutSecrets.replace(/gh[a-z]_[A-Za-z0-9._-]{36,}/g, '***').slice(0, 2000);
}
