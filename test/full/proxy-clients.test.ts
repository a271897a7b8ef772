/**
 * Real clients through the proxy of a run: each gets what it asks for, by connections that the proxy saw, and nothing
 * without a network. Packages come from the registries that the clients know; the rest from websites of the test.
 */
import { execFileSync } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConnectionDecision, ConnectionEnd, Mount, OpenAccess } from '../../src/sandbox/sandbox.ts';
import { findTool, toolCacheDir } from '../../src/tools.ts';
import {
  createHarness,
  type Harness,
  ownAddress,
  runIn,
  script,
  temporaryDirectory,
} from '../sandbox/harness.ts';
import { startWebsites, type Websites } from './websites.ts';

const names = ['git.example', 'plugins.example', 'providers.example'];
const root = temporaryDirectory();
const places = {
  path: process.env['PATH'] ?? '',
  cacheDir: toolCacheDir(homedir(), process.env['XDG_CACHE_HOME']),
};
const pulumi = findTool('pulumi', places);
const platform = { os: 'linux', arch: process.arch === 'x64' ? 'amd64' : process.arch };

let websites: Websites;
let harness: Harness;
beforeAll(async () => {
  if (ownAddress === undefined) return;
  websites = await startWebsites({
    ...{ directory: root, address: ownAddress, names, files: makeFiles(), repository: makeRepository() },
  });
  const bundle = join(root, 'bundle.pem');
  copyFileSync(websites.authority, bundle);
  // Of a machine whose registries have an authority of their own.
  const more = process.env['NODE_EXTRA_CA_CERTS'] || process.env['SSL_CERT_FILE'];
  if (more) appendFileSync(bundle, readFileSync(more));
  harness = await createHarness({
    caBundle: bundle,
    resolve: async (host) =>
      names.includes(host)
        ? [ownAddress ?? '']
        : (await lookup(host, { all: true })).map(({ address }) => address),
  });
});
afterAll(async () => {
  harness?.[Symbol.dispose]();
  await websites?.[Symbol.asyncDispose]();
  rmSync(root, { recursive: true, force: true });
});

/** A plugin of Pulumi, and a provider in a network mirror: as programs they do nothing. */
function makeFiles(): Map<string, Buffer | string> {
  const made = join(root, 'made');
  mkdirSync(made);
  const program = (name: string) => writeFileSync(join(made, name), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  program('pulumi-resource-tiny');
  program('terraform-provider-tiny_v1.0.0');
  const run = (...argv: [string, ...string[]]) =>
    execFileSync(argv[0], argv.slice(1), { cwd: made, stdio: 'pipe' });
  run('tar', '-czf', 'plugin.tar.gz', 'pulumi-resource-tiny');
  run('python3', '-m', 'zipfile', '-c', 'provider.zip', 'terraform-provider-tiny_v1.0.0');
  const { os, arch } = platform;
  const mirror = '/registry.example/acme/tiny';
  return new Map<string, Buffer | string>([
    [`/pulumi-resource-tiny-v1.0.0-${os}-${arch}.tar.gz`, readFileSync(join(made, 'plugin.tar.gz'))],
    [`${mirror}/index.json`, JSON.stringify({ versions: { '1.0.0': {} } })],
    [`${mirror}/1.0.0.json`, JSON.stringify({ archives: { [`${os}_${arch}`]: { url: 'provider.zip' } } })],
    [`${mirror}/provider.zip`, readFileSync(join(made, 'provider.zip'))],
  ]);
}

function makeRepository(): string {
  const repository = join(root, 'sample.git');
  const tree = join(root, 'sample');
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: root, stdio: 'pipe' });
  git('init', '--quiet', tree);
  writeFileSync(join(tree, 'README.md'), 'cloned through the proxy\n');
  git('-C', tree, 'add', 'README.md');
  git('-C', tree, '-c', 'user.name=a', '-c', 'user.email=a@a.example', 'commit', '--quiet', '-m', 'Begin');
  git('clone', '--quiet', '--bare', tree, repository);
  return repository;
}

interface Client {
  readonly client: string;
  /** What the sandbox shows of it. */
  readonly isThere: boolean;
  readonly asks: (port: number) => string;
  readonly gets: string | RegExp;
  /** Null: whoever it asks. */
  readonly host: string | null;
  readonly mounts?: readonly Mount[];
}

const clients: readonly Client[] = [
  {
    client: 'git',
    isThere: existsSync('/usr/bin/git'),
    asks: (port) => `git clone --quiet https://git.example:${port}/sample.git sample && cat sample/README.md`,
    gets: 'cloned through the proxy',
    host: 'git.example',
  },
  {
    client: 'npm',
    isThere: existsSync('/usr/bin/npm'),
    asks: () => 'npm pack --silent --fetch-retries=0 ms@2.1.3 && tar -tzf ms-2.1.3.tgz',
    gets: 'package/package.json',
    host: null,
  },
  {
    client: 'pip',
    isThere: hasPip(),
    asks: () =>
      '/usr/bin/python3 -m pip download --quiet --disable-pip-version-check --retries 0 --no-deps --dest got six==1.17.0; ls got',
    gets: /^six-1\.17\.0/m,
    host: null,
  },
  {
    client: 'go',
    isThere: existsSync('/usr/local/go/bin/go'),
    asks: () =>
      "printf 'module sample\\n\\ngo 1.21\\n\\nrequire gopkg.in/yaml.v3 v3.0.1\\n' > go.mod && GOTOOLCHAIN=local go mod download gopkg.in/yaml.v3 && ls go/pkg/mod/gopkg.in",
    gets: 'yaml.v3@v3.0.1',
    host: null,
  },
  {
    client: 'pulumi plugin install',
    isThere: pulumi !== null,
    asks: (port) =>
      `pulumi plugin install resource tiny v1.0.0 --server https://plugins.example:${port} && pulumi plugin ls`,
    gets: /^tiny\s+resource\s+1\.0\.0/m,
    host: 'plugins.example',
    mounts: pulumi ? [{ source: dirname(pulumi.path), target: '/opt/tools/pulumi', writable: false }] : [],
  },
  {
    client: 'terraform init',
    isThere: existsSync('/usr/local/bin/terraform'),
    asks: (port) => `
      printf 'provider_installation {\\n network_mirror {\\n url = "https://providers.example:${port}/"\\n }\\n}\\n' > .terraformrc
      printf 'terraform {\\n required_providers {\\n tiny = { source = "registry.example/acme/tiny" }\\n }\\n}\\n' > main.tf
      terraform init -no-color`,
    gets: 'Installed registry.example/acme/tiny v1.0.0',
    host: 'providers.example',
  },
];

/** Debian has it apart from Python. */
function hasPip(): boolean {
  try {
    execFileSync('/usr/bin/python3', ['-m', 'pip', '--version'], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}

async function run({ asks, mounts = [] }: Client, network: OpenAccess | { readonly mode: 'none' }) {
  const decisions: ConnectionDecision[] = [];
  const ends: ConnectionEnd[] = [];
  const outcome = await runIn(harness.sandbox, script(`mkdir home && cd home && ${asks(websites.port)}`), {
    ...{ mounts, network },
    onConnection: (decision) => decisions.push(decision),
    onConnectionEnd: (end) => ends.push(end),
    environment: {
      PATH: '/usr/local/bin:/usr/bin:/bin:/usr/local/go/bin:/opt/tools/pulumi',
      HOME: '/tmp/home',
      LANG: 'C.UTF-8',
      USER: 'runner',
      CHECKPOINT_DISABLE: '1',
      PULUMI_SKIP_UPDATE_CHECK: 'true',
    },
  });
  return { ...outcome, decisions, ends };
}

const access: OpenAccess = { mode: 'public', allowedHosts: names };

describe.runIf(ownAddress !== undefined)('through the proxy of a run', () => {
  for (const client of clients) {
    it.skipIf(!client.isThere)(
      `${client.client} gets what it asks for, and nothing without network`,
      async () => {
        const without = await run(client, { mode: 'none' });
        expect(without.stdout).not.toMatch(client.gets);

        const { result, stdout, stderr, decisions, ends } = await run(client, access);
        expect({ result, stderr }).toMatchObject({ result: { kind: 'exited', exitCode: 0 } });
        expect(stdout).toMatch(client.gets);
        expect(decisions.length).toBeGreaterThan(0);
        expect(decisions.filter(({ isAllowed }) => !isAllowed)).toEqual([]);
        if (client.host !== null)
          expect(new Set(decisions.map(({ host }) => host))).toEqual(new Set([client.host]));
        expect(ends).toHaveLength(decisions.length);
        expect(ends.reduce((sum, { receivedBytes }) => sum + receivedBytes, 0)).toBeGreaterThan(100);
      },
    );
  }
});

it.skipIf(ownAddress !== undefined)('needs an interface other than loopback for its websites', () => {});
