import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { withDotEnv } from '../src/config/environment.ts';
import { readConfig, settingNames } from '../src/config.ts';
import { UserError } from '../src/user-error.ts';
import { startNode } from './support/node-process.ts';

const root = join(import.meta.dirname, '..');
const example = readFileSync(join(root, '.env.example'), 'utf8');
const pem = { type: 'pkcs8', format: 'pem' } as const;
const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export(pem).toString();
const otherKind = generateKeyPairSync('ed25519').privateKey.export(pem).toString();
const github = { APP_ID: '7', PRIVATE_KEY: key, WEBHOOK_SECRET: 'secret' };

function problemOf(environment: Record<string, string>): UserError {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error('nothing was wrong');
}

describe('.env.example', () => {
  it('names every setting, each once, and nothing else', () => {
    const named = [...example.matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name);

    expect(named.sort()).toEqual([...settingNames].sort());
  });

  it('explains every setting on the line before it or its group', () => {
    const lines = example.split('\n');
    const bare = lines.filter(
      (line, index) => /^[A-Z_]+=/.test(line) && !/^(#|[A-Z_]+=)/.test(lines[index - 1] ?? ''),
    );

    expect(bare).toEqual([]);
  });

  it('holds the defaults', () => {
    const { tools: _, ...fromExample } = readConfig(parseEnv(example) as Record<string, string>);
    const { tools: __, ...fromNothing } = readConfig({});

    expect(fromExample).toEqual(fromNothing);
  });
});

describe('the settings', () => {
  it('have defaults that need nothing', () => {
    const config = readConfig({});

    expect(config).toMatchObject({
      github: null,
      listen: { host: '127.0.0.1', port: 3000 },
      publicUrl: null,
      sandbox: {
        ...{ kind: 'bubblewrap', network: 'public', allowedHosts: [] },
        ...{ untrustedHosts: [], upstreamProxy: null },
        ...{ memoryBytes: 4 * 1024 ** 3, processes: 1024, cpus: null },
      },
      admins: [],
      logLevel: 'info',
      remote: null,
    });
    expect(config.dataDir).toBe(join(process.cwd(), 'data'));
    expect(config.databasePath).toBe(join(config.dataDir, 'slipway.db'));
    expect(config.secretKeyPath).toBe(join(config.dataDir, 'secret.key'));
    expect(config.workers).toBeGreaterThan(0);
  });

  it.each<[Record<string, string>, string]>([
    [{ SLIPWAY_TOKEM: 'x' }, 'SLIPWAY_TOKEM'],
    [{ SANDBOX_NETWORKS: 'none' }, 'SANDBOX_NETWORKS'],
    [{ WEBHOOK_SECRETS: 'x' }, 'WEBHOOK_SECRETS'],
    [{ WEBHOOK_ALLOWED_TARGET: '' }, 'WEBHOOK_ALLOWED_TARGET'],
    [{ APP_ID: '7', PRIVATE_KEY: 'key' }, 'WEBHOOK_SECRET'],
    [{ PRIVATE_KEY: 'key' }, 'WEBHOOK_SECRET'],
    [{ ...github, WEBHOOK_SECRET: '' }, 'WEBHOOK_SECRET'],
    [{ WEBHOOK_SECRET: 'secret' }, 'APP_ID'],
    [{ APP_ID: '7', WEBHOOK_SECRET: 'secret' }, 'PRIVATE_KEY'],
    [{ ...github, PRIVATE_KEY: '', PRIVATE_KEY_PATH: '/nonexistent/key.pem' }, 'PRIVATE_KEY_PATH'],
    [{ ...github, PRIVATE_KEY: '', PRIVATE_KEY_PATH: '/etc/hostname' }, 'PRIVATE_KEY_PATH'],
    [{ ...github, PRIVATE_KEY: '', PRIVATE_KEY_PATH: '/etc' }, 'PRIVATE_KEY_PATH'],
    [{ ...github, PRIVATE_KEY: 'garbage' }, 'PRIVATE_KEY'],
    [{ ...github, PRIVATE_KEY: key.slice(0, 400) }, 'PRIVATE_KEY'],
    [{ ...github, PRIVATE_KEY: otherKind }, 'PRIVATE_KEY'],
    [{ CA_BUNDLE: '/nonexistent/ca.pem' }, 'CA_BUNDLE'],
    [{ CA_BUNDLE: '/etc' }, 'CA_BUNDLE'],
    [{ CA_BUNDLE: '/etc/hostname' }, 'CA_BUNDLE'],
    [{ ...github, APP_ID: 'seven' }, 'APP_ID'],
    [{ ...github, APP_ID: '-7' }, 'APP_ID'],
    [{ GHE_PROTOCOL: 'ftp' }, 'GHE_PROTOCOL'],
    [{ PORT: 'x' }, 'PORT'],
    [{ PORT: '70000' }, 'PORT'],
    [{ PORT: '-1' }, 'PORT'],
    [{ PORT: '80.5' }, 'PORT'],
    [{ PORT: ' ' }, 'PORT'],
    [{ WORKERS: '0x2' }, 'WORKERS'],
    [{ PUBLIC_URL: 'slipway.example.com' }, 'PUBLIC_URL'],
    [{ PUBLIC_URL: 'ftp://slipway.example.com' }, 'PUBLIC_URL'],
    [{ PUBLIC_URL: 'https://example.com/slipway' }, 'PUBLIC_URL'],
    [{ PUBLIC_URL: 'https://example.com/?a=b' }, 'PUBLIC_URL'],
    [{ PUBLIC_URL: 'https://ada:abc@example.com' }, 'PUBLIC_URL'],
    [{ SANDBOX: 'docker' }, 'SANDBOX'],
    [{ SANDBOX: 'None' }, 'SANDBOX'],
    [{ SANDBOX_NETWORK: 'all' }, 'SANDBOX_NETWORK'],
    [{ SANDBOX_MEMORY_MB: '63' }, 'SANDBOX_MEMORY_MB'],
    [{ SANDBOX_MEMORY_MB: '4G' }, 'SANDBOX_MEMORY_MB'],
    [{ SANDBOX_PROCESSES: '0' }, 'SANDBOX_PROCESSES'],
    [{ SANDBOX_UPSTREAM_PROXY: 'proxy.example:3128' }, 'SANDBOX_UPSTREAM_PROXY'],
    [{ SANDBOX_UPSTREAM_PROXY: 'https://proxy.example:3128' }, 'SANDBOX_UPSTREAM_PROXY'],
    [{ SANDBOX_UPSTREAM_PROXY: 'http://proxy.example:3128/path' }, 'SANDBOX_UPSTREAM_PROXY'],
    [{ SANDBOX_UPSTREAM_PROXY: 'http://proxy.example:3128?x' }, 'SANDBOX_UPSTREAM_PROXY'],
    [{ SANDBOX_UPSTREAM_PROXY: 'http://proxy.example:99999' }, 'SANDBOX_UPSTREAM_PROXY'],
    [{ SANDBOX_CPUS: '0' }, 'SANDBOX_CPUS'],
    [{ SANDBOX_CPUS: 'all' }, 'SANDBOX_CPUS'],
    [{ SANDBOX_CPUS: '-1' }, 'SANDBOX_CPUS'],
    [{ WORKERS: '0' }, 'WORKERS'],
    [{ WORKERS: 'many' }, 'WORKERS'],
    [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL'],
    [{ METRICS_ANONYMOUS: 'yes' }, 'METRICS_ANONYMOUS'],
    [{ DATABASE_URL: 'postgres://db/slipway' }, 'DATABASE_URL'],
    [{ DATABASE_URL: '/var/lib/slipway.db' }, 'DATABASE_URL'],
    [{ SLIPWAY_URL: 'https://slipway.example.com' }, 'SLIPWAY_TOKEN'],
    [{ SLIPWAY_TOKEN: 'slipway_x' }, 'SLIPWAY_URL'],
    [{ SLIPWAY_URL: 'slipway', SLIPWAY_TOKEN: 'slipway_x' }, 'SLIPWAY_URL'],
  ])('refuse %j with a line that names %s', (environment, name) => {
    const error = problemOf(environment);

    expect(error.code).toBe('config-invalid');
    expect(error.message).toMatch(new RegExp(`^(${name}|.* or ${name}).*: `));
    expect(error.message).not.toContain('\n');
    expect(error.hint).toMatch(/^[A-Z].+\.$|:/);
  });

  it('never repeat a secret in what they refuse', () => {
    const errors = [
      problemOf({ SLIPWAY_TOKEN: 'slipway_abc123' }),
      problemOf({ APP_ID: 'x', PRIVATE_KEY: 'abc123', WEBHOOK_SECRET: 'abc123' }),
      problemOf({ ...github, PRIVATE_KEY: 'abc123' }),
      problemOf({ DATABASE_URL: 'postgres://user:abc123@db/slipway' }),
      problemOf({ SANDBOX_UPSTREAM_PROXY: 'https://user:abc123@proxy.example' }),
      problemOf({ SANDBOX_UPSTREAM_PROXY: 'http://user:abc123%@proxy.example' }),
      problemOf({ SANDBOX_UPSTREAM_PROXY: 'http://us%3Aer:abc123@proxy.example' }),
    ];

    expect(errors.map(({ message, hint }) => `${message} ${hint}`).join()).not.toContain('abc123');
  });

  it.each([
    ['http://proxy.example:3128', { host: 'proxy.example', port: 3128, credentials: null }],
    ['http://proxy.example/', { host: 'proxy.example', port: 80, credentials: null }],
    ['http://[fd00::1]:3128', { host: 'fd00::1', port: 3128, credentials: null }],
    [
      'http://ada:p%40ss%3Aword@10.0.0.1:8080',
      { host: '10.0.0.1', port: 8080, credentials: { user: 'ada', password: 'p@ss:word' } },
    ],
  ])('read the upstream proxy %s', (text, proxy) => {
    expect(readConfig({ SANDBOX_UPSTREAM_PROXY: text }).sandbox.upstreamProxy).toEqual(proxy);
  });

  it('leave other names alone', () => {
    expect(() => readConfig({ APP_IDS: '1', PULUMI_CONFIG_PASSPHRASE: 'x', HOSTNAME: 'h' })).not.toThrow();
  });

  it('count an empty value as not set', () => {
    expect(readConfig({ PORT: '', WORKERS: '', APP_ID: '', SANDBOX: '' })).toEqual(readConfig({}));
  });

  it.each([
    [{}, 'https://api.github.com', 'https://github.com'],
    [{ GHE_HOST: 'ghe.example.com' }, 'https://ghe.example.com/api/v3', 'https://ghe.example.com'],
    [
      { GHE_HOST: '127.0.0.1:8080', GHE_PROTOCOL: 'http' },
      'http://127.0.0.1:8080/api/v3',
      'http://127.0.0.1:8080',
    ],
    // Only a server of one's own can be spoken to in clear.
    [{ GHE_PROTOCOL: 'http' }, 'https://api.github.com', 'https://github.com'],
  ])('of GitHub, %j, lead to %s', (environment, apiUrl, webUrl) => {
    expect(readConfig({ ...github, ...environment }).github).toMatchObject({ apiUrl, webUrl });
  });

  it('take the private key with its line breaks written out, or from a file', () => {
    const directory = mkdtempSync(join(tmpdir(), 'slipway-config-'));
    try {
      const path = join(directory, 'key.pem');
      writeFileSync(path, key);

      const inline = readConfig({ ...github, PRIVATE_KEY: key.replaceAll('\n', '\\n') }).github;
      const file = readConfig({ ...github, PRIVATE_KEY: '', PRIVATE_KEY_PATH: path }).github;

      expect([inline?.privateKey, file?.privateKey]).toEqual([key, key]);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it.each([
    [{}, false],
    [{ METRICS_ANONYMOUS: 'false' }, false],
    [{ METRICS_ANONYMOUS: 'true' }, true],
  ])('%j serves metrics to everybody: %s', (environment, expected) => {
    expect(readConfig(environment).metricsAnonymous).toBe(expected);
  });

  it('cut lists at commas, and slashes off addresses', () => {
    const config = readConfig({
      ADMINS: ' ada, grace ,,',
      WEBHOOK_ALLOWED_TARGETS: '127.0.0.1,10.0.0.0/8:8080',
      PUBLIC_URL: 'https://Slipway.example.com:443//',
      SLIPWAY_URL: 'http://slipway.example.com/',
      SLIPWAY_TOKEN: 'slipway_x',
    });

    expect(config.admins).toEqual(['ada', 'grace']);
    expect(config.webhookAllowedTargets).toEqual(['127.0.0.1', '10.0.0.0/8:8080']);
    expect(config.publicUrl).toBe('https://slipway.example.com');
    expect(config.remote?.url).toBe('http://slipway.example.com');
  });
});

describe('a .env file', () => {
  it('stands behind the real environment', () => {
    const directory = mkdtempSync(join(tmpdir(), 'slipway-config-'));
    try {
      writeFileSync(join(directory, '.env'), 'PORT=4000\nHOST=0.0.0.0\n');

      const environment = withDotEnv({ PORT: '5000' }, directory);

      expect(readConfig(environment).listen).toEqual({ host: '0.0.0.0', port: 5000 });
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('need not be there', () => {
    expect(withDotEnv({ PORT: '5000' }, '/nonexistent')).toEqual({ PORT: '5000' });
  });
});

describe('the threads of the resolver', () => {
  it.each([
    ['', 64],
    ['5', 5],
  ])('are many, unless the environment says otherwise: "%s"', async (given, threads) => {
    await using node = startNode(`
      import { readdirSync } from 'node:fs';
      import { lookup } from 'node:dns/promises';
      process.env.UV_THREADPOOL_SIZE = '${given}';
      const { widenThreadPool } = await import(src + '/config/environment.ts');
      const before = readdirSync('/proc/self/task').length;
      widenThreadPool();
      await lookup('localhost');
      console.log(readdirSync('/proc/self/task').length - before);
    `);
    expect(Number(await node.line())).toBe(threads);
  });
});
