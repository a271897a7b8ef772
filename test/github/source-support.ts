import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createGithubSource } from '../../src/github/source.ts';
import { createLogger } from '../../src/logger.ts';
import type { Repository } from '../../src/stacks/repository.ts';
import { UserError } from '../../src/user-error.ts';
import { startGithub, tempDir } from './support.ts';

/** acme/infra on the stand-in, and our source with the directories of one run. */
export async function openSource() {
  const started = await startGithub();
  const { github, app, apiUrl, installation } = started;
  const run = await tempDir();
  const lines: string[] = [];
  const logger = createLogger('debug', { write: (line) => void lines.push(line) });
  const infra = await github.addRepository({ owner: 'acme', name: 'infra', files: { 'a.txt': 'one' } });
  const ref: Repository = {
    id: infra.id,
    accountId: infra.owner.id,
    installationId: installation.id,
    fullName: 'acme/infra',
    defaultBranch: 'main',
    isPrivate: true,
  };
  const target = { gitDir: join(run.path, 'git'), workTree: join(run.path, 'tree') };
  await mkdir(target.gitDir);
  await mkdir(target.workTree);
  const path = process.env['PATH'] ?? '';
  const git = { webUrl: github.url, path, caBundle: null };
  const never = new AbortController().signal;
  const source = createGithubSource({
    app,
    apiUrl,
    git,
    scratchDirectory: join(run.path, 'scratch'),
    logger,
  });
  return {
    ...started,
    source,
    infra,
    ref,
    target,
    git,
    lines,
    runDir: run.path,
    fetch: (sha: string, signal = never) => source.fetch(ref, sha, target, signal),
    commit: (message: string, files: Record<string, string | null>, branch = 'main') =>
      github.commit(infra, { branch, message, files }),
    async [Symbol.asyncDispose]() {
      await started[Symbol.asyncDispose]();
      await run[Symbol.asyncDispose]();
    },
  };
}

export const rejection = async (work: Promise<unknown>): Promise<UserError> => {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof UserError)) throw new Error('no UserError', { cause: error });
  return error;
};

/** Stands where repositories are; while git waits for its answer, it lists the arguments of all processes. */
export async function startListingWeb(instead?: () => void) {
  const seen = { authorization: '', processes: [] as string[] };
  const server = createServer((request, response) => {
    seen.authorization = request.headers.authorization ?? '';
    seen.processes = listDescendants();
    if (instead) instead();
    else response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export const listProcesses = (): string[] => pids().map(argumentsOf);

/** What this process has started, and what that has. What else runs on the machine says whatever it likes. */
function listDescendants(): string[] {
  const parents = new Map(pids().map((pid) => [pid, parentOf(pid)]));
  const isBelow = (pid: string): boolean => {
    for (let at = parents.get(pid); at !== undefined; at = parents.get(at)) {
      if (at === String(process.pid)) return true;
    }
    return false;
  };
  return [...parents.keys()].filter(isBelow).map(argumentsOf);
}

const pids = (): string[] => readdirSync('/proc').filter((name) => /^\d+$/.test(name));

function parentOf(pid: string): string | undefined {
  try {
    return /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  } catch {
    return undefined; // It ended between the list and the look.
  }
}

function argumentsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return ''; // It ended between the list and the look.
  }
}
