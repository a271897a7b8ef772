import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Permissions } from '../../../demo/github/state.ts';
import { openCheckout } from '../../../src/github/simulate/checkout.ts';
import { tempDirectory } from '../../support/temp-database.ts';
import { startGithub } from '../support.ts';

const entry = (name: string, more: string): string =>
  `  - name: ${name}\n    vendor: { pulumi: { login_url: "file:///state", stack_name: dev } }\n${more}`;

export const repositoryFile = [
  'version: 1\nstacks:\n',
  entry('net', '    project_root: net\n'),
  entry('dns', '    project_root: dns\n    trusted_bots: ["renovate[bot]"]\n'),
  entry('open', '    project_root: net\n    allow_forks: true\n'),
  entry('old', '    project_root: net\n    branch: release\n'),
].join('');

const files = { '.github/slipway.yml': repositoryFile, 'net/a': '1', 'dns/a': '1' };

/** A stand-in with everything that is subscribed, whose payloads are the recorded ones, and clones of its repository. */
export async function startRecording() {
  const permissions: Permissions = {
    ...{ contents: 'read', pull_requests: 'write' },
    ...{ issues: 'read', merge_queues: 'read' },
  };
  const events = ['push', 'pull_request', 'issue_comment', 'merge_group'];
  const started = await startGithub({ app: { permissions, events } });
  const { github } = started;
  const repo = await github.addRepository({ owner: 'acme', name: 'infra', files });
  github.addUser({ login: 'mallory', name: 'Mallory', email: 'mallory@example.com' });
  const directory = tempDirectory();
  let clones = 0;
  return {
    github,
    repo,
    push: (branch: string, files: Record<string, string>, pusher = 'ada') =>
      github.commitAndPush(repo, { branch, files, message: 'Change', pusher }),
    /** The body of the newest delivery of the event. */
    payload(event: string): Record<string, unknown> {
      const found = github.deliveries.findLast((delivery) => delivery.event === event);
      if (!found) throw new Error(`no ${event} was sent`);
      return structuredClone(found.payload);
    },
    /** A clone as it is now, on that branch. */
    clone(branch = 'main'): string {
      clones += 1;
      const path = join(directory.path, `clone-${clones}`);
      execFileSync('git', ['clone', '--quiet', '--branch', branch, repo.gitDir, path]);
      return path;
    },
    async [Symbol.asyncDispose]() {
      await started[Symbol.asyncDispose]();
      directory[Symbol.dispose]();
    },
  };
}

export const checkoutAt = (path: string) =>
  openCheckout(path, { webUrl: 'https://github.com', path: process.env['PATH'] ?? '', caBundle: null });
