import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import BetterSqlite3 from 'better-sqlite3';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../demo/server-process.ts';
import { waitFor } from '../../demo/wait.ts';
import { tempDirectory } from '../support/temp-database.ts';

/**
 * Starts that must be refused: one line says what is wrong, one what to do, and once that is done the same data
 * directory serves again, with everything that was in it.
 */
const root = join(import.meta.dirname, '../..');
const program = join(root, 'src/main.ts');
const directory = tempDirectory();
afterAll(() => directory[Symbol.dispose]());

const key = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
}).privateKey;
const template = join(directory.path, 'template');
let token = '';

type Settings = Readonly<Record<string, string>>;
/** Nobody answers at that GitHub; without a sandbox the start is quick. */
const base: Settings = {
  PATH: process.env['PATH'] ?? '',
  HOME: directory.path,
  APP_ID: '1',
  PRIVATE_KEY: key,
  WEBHOOK_SECRET: 'of the tests',
  GHE_HOST: '127.0.0.1:1',
  GHE_PROTOCOL: 'http',
  SANDBOX: 'none',
  LOG_LEVEL: 'fatal',
};

beforeAll(async () => {
  const args = [join(root, 'bin/slipway.js'), 'token', 'create', '--name', 'a', '--role', 'admin', '--json'];
  const env = { ...base, DATA_DIR: template };
  const { stdout } = await execa(process.execPath, args, { cwd: directory.path, env, extendEnv: false });
  token = (JSON.parse(stdout) as { token: string }).token;
});

function start(settings: Settings, wrapper: readonly string[] = []): ChildProcess {
  const [file = '', ...args] = [...wrapper, process.execPath, program];
  const env = { ...base, ...settings };
  return spawn(file, args, { cwd: directory.path, env, stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Exit code and what stands on stderr of a server that must not start. */
async function refused(settings: Settings, wrapper: readonly string[] = []) {
  const child = start(settings, wrapper);
  const timer = setTimeout(() => child.kill('SIGKILL'), 30_000);
  const [errors, [exitCode]] = await Promise.all([
    child.stderr ? text(child.stderr) : '',
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  clearTimeout(timer);
  return { exitCode, errors };
}

/** The data directory serves, and knows the token of before. */
async function expectToServe(settings: Settings): Promise<void> {
  const port = String(await freePort());
  const child = start({ ...settings, PORT: port });
  const exited = once(child, 'exit');
  try {
    const answer = await waitFor(
      'the server to answer',
      () => {
        if (child.exitCode !== null) throw new Error('the server ended');
        const headers = { authorization: `Bearer ${token}` };
        return fetch(`http://127.0.0.1:${port}/api/v1/stacks`, { headers }).catch(() => null);
      },
      { timeoutMs: 30_000 },
    );
    expect(answer.status).toBe(200);
  } finally {
    child.kill('SIGTERM');
    await exited;
  }
  expect(child.exitCode).toBe(0);
}

interface World {
  readonly dataDir: string;
  readonly database: string;
  readonly keyFile: string;
  readonly elsewhere: string;
}

interface Case {
  /** What is broken; the settings that go with it. */
  break?(world: World): Settings | undefined;
  repair?(world: World): void;
  readonly wrapper?: (world: World) => readonly string[];
  readonly says: string | RegExp;
  readonly hint: string;
  /** 2 for settings that were not even tried. */
  readonly exitCode?: number;
}

const setting = (settings: Settings, says: string | RegExp, hint: string): Case => ({
  break: () => settings,
  says,
  hint,
  exitCode: 2,
});
/** Makes what `path` was before. */
const restoring = (path: (world: World) => string, change: (path: string) => void) => {
  let before: Buffer;
  return {
    break(world: World) {
      before = readFileSync(path(world));
      change(path(world));
      return undefined;
    },
    repair(world: World) {
      rmSync(path(world), { recursive: true, force: true });
      writeFileSync(path(world), before, { mode: 0o600 });
    },
  };
};
const database = (world: World) => world.database;
const keyFile = (world: World) => world.keyFile;
const readOnly = (world: World) => [
  'bwrap',
  '--dev-bind',
  '/',
  '/',
  '--ro-bind',
  world.dataDir,
  world.dataDir,
];

const cases: Readonly<Record<string, Case>> = {
  'a private key that is garbage': setting(
    { PRIVATE_KEY: 'garbage' },
    'PRIVATE_KEY: the value is no RSA',
    '.pem file',
  ),
  'a path of a private key that leads nowhere': setting(
    { PRIVATE_KEY: '', PRIVATE_KEY_PATH: '/nonexistent/app.pem' },
    'PRIVATE_KEY_PATH: /nonexistent/app.pem cannot be read',
    'on the page of the App',
  ),
  'no webhook secret': setting({ WEBHOOK_SECRET: '' }, 'WEBHOOK_SECRET: missing', 'forge a push'),
  'authorities that are not there': setting(
    { CA_BUNDLE: '/nonexistent/ca.pem' },
    'CA_BUNDLE: /nonexistent/ca.pem cannot be read',
    'PEM form',
  ),
  'authorities that are none': setting({ CA_BUNDLE: program }, 'holds no certificate', 'PEM form'),
  'an address that is none': setting(
    { PUBLIC_URL: 'slipway' },
    'PUBLIC_URL: must be an address',
    '.env.example',
  ),
  'an address with a path': setting(
    { PUBLIC_URL: 'https://example.com/slipway' },
    'PUBLIC_URL: must have no path',
    '.env.example',
  ),
  'a database of another kind': setting(
    { DATABASE_URL: 'postgres://u:hidden@db/slipway' },
    /^slipway: DATABASE_URL: only sqlite:<path>[^@]*$/,
    'DATA_DIR',
  ),
  'a name with a typing error': setting(
    { WEBHOOK_SECRT: 'x' },
    'WEBHOOK_SECRT: no such setting',
    '.env.example',
  ),
  'a port that is none': setting({ PORT: '70000' }, 'PORT: ', '.env.example'),
  'a tool that is not there': {
    break: () => ({ PULUMI_PATH: '/nonexistent/pulumi' }),
    says: 'PULUMI_PATH: /nonexistent/pulumi is not an executable file',
    hint: 'path of the pulumi program',
  },
  'a directory for a tool': {
    break: () => ({ PULUMI_PATH: '/usr' }),
    says: 'PULUMI_PATH: /usr is not an executable file',
    hint: 'path of the pulumi program',
  },
  'a tool that cannot be executed': {
    break: ({ elsewhere }) => {
      writeFileSync(join(elsewhere, 'pulumi'), '#!/bin/sh\n', { mode: 0o644 });
      return { PULUMI_PATH: join(elsewhere, 'pulumi') };
    },
    says: 'is not an executable file',
    hint: 'path of the pulumi program',
  },
  'hosts of the sandbox that are none': {
    break: () => ({ SANDBOX_ALLOWED_HOSTS: 'not a host' }),
    says: 'SANDBOX_ALLOWED_HOSTS',
    hint: '',
    exitCode: 2,
  },
  'hosts of untrusted runs that are none': {
    break: () => ({ SANDBOX_UNTRUSTED_HOSTS: 'not a host' }),
    says: 'SANDBOX_UNTRUSTED_HOSTS',
    hint: '',
    exitCode: 2,
  },
  'targets of webhooks that are none': {
    break: () => ({ WEBHOOK_ALLOWED_TARGETS: 'http://x y' }),
    says: 'WEBHOOK_ALLOWED_TARGETS',
    hint: '',
    exitCode: 2,
  },
  'a file for a data directory': {
    break: ({ elsewhere }) => {
      writeFileSync(join(elsewhere, 'file'), 'x');
      return { DATA_DIR: join(elsewhere, 'file') };
    },
    says: 'a file stands where a directory is needed (EEXIST)',
    hint: 'Set DATA_DIR',
  },
  'a data directory below a file': {
    break: ({ elsewhere }) => {
      writeFileSync(join(elsewhere, 'file'), 'x');
      return { DATA_DIR: join(elsewhere, 'file/data') };
    },
    says: 'a file stands where a directory is needed (ENOTDIR)',
    hint: 'Set DATA_DIR',
  },
  'a data directory that is read-only': {
    wrapper: readOnly,
    says: 'cannot be opened for writing (EROFS)',
    hint: 'not read-only',
  },
  'a text file for a database': {
    ...restoring(database, (path) => writeFileSync(path, 'Dear diary,\n'.repeat(1000))),
    says: 'is damaged, or is no database of Slipway (SQLITE_NOTADB)',
    hint: 'Restore it from a backup',
  },
  'a database cut short': {
    ...restoring(database, (path) => truncateSync(path, statSync(path).size / 2)),
    says: 'is damaged, or is no database of Slipway (SQLITE_CORRUPT)',
    hint: 'Restore it from a backup',
  },
  'a directory for a database': {
    break: ({ elsewhere }) => ({ DATABASE_URL: `sqlite:${elsewhere}` }),
    says: 'cannot be opened for writing (EISDIR)',
    hint: 'DATABASE_URL',
  },
  'a database of a newer Slipway': {
    break(world) {
      using connection = open(world.database);
      connection.exec("insert into migration values ('999-of-tomorrow', 0)");
      return undefined;
    },
    repair(world) {
      using connection = open(world.database);
      connection.exec("delete from migration where name = '999-of-tomorrow'");
    },
    says: 'written by a newer Slipway (migration 999-of-tomorrow)',
    hint: 'Start that version',
  },
  'a database that another program has locked': {
    break(world) {
      const connection = new BetterSqlite3(world.database);
      connection.exec('begin immediate');
      locks.push(connection);
      return undefined;
    },
    repair: () => void locks.pop()?.close(),
    says: 'is locked by another program (SQLITE_BUSY)',
    hint: 'such as a backup',
  },
  'a key file that is missing': {
    ...restoring(keyFile, (path) => rmSync(path)),
    says: 'is missing, but the database exists',
    hint: 'Restore the key file',
  },
  'a key file that is too short': {
    ...restoring(keyFile, (path) => truncateSync(path, 31)),
    says: 'must hold exactly 32 bytes; it has 31',
    hint: 'Restore the key file',
  },
  'the key file of another database': {
    ...restoring(keyFile, (path) => writeFileSync(path, randomBytes(32))),
    says: 'is not that of this database',
    hint: 'SECRET_KEY_PATH must name the key file',
  },
  'a directory for a key file': {
    ...restoring(keyFile, (path) => {
      rmSync(path);
      mkdirSync(path);
    }),
    says: /secret\.key cannot be read/,
    hint: 'SECRET_KEY_PATH',
  },
  'a key file that leads to itself': {
    ...restoring(keyFile, (path) => {
      rmSync(path);
      symlinkSync('secret.key', path);
    }),
    says: /secret\.key cannot be read/,
    hint: 'SECRET_KEY_PATH',
  },
};

const locks: BetterSqlite3.Database[] = [];

function open(path: string) {
  const connection = new BetterSqlite3(path);
  return Object.assign(connection, { [Symbol.dispose]: () => void connection.close() });
}

describe('a start is refused because of', () => {
  test.each(Object.entries(cases))(
    '%s',
    async (name, { says, hint, wrapper, repair, exitCode = 1, ...one }) => {
      const place = join(directory.path, name.replace(/\W+/g, '-'));
      const world: World = {
        dataDir: join(place, 'data'),
        database: join(place, 'data/slipway.db'),
        keyFile: join(place, 'data/secret.key'),
        elsewhere: join(place, 'elsewhere'),
      };
      cpSync(template, world.dataDir, { recursive: true });
      chmodSync(world.dataDir, 0o700);
      mkdirSync(world.elsewhere);
      const settings = { DATA_DIR: world.dataDir, PORT: '0', ...one.break?.(world) };

      const result = await refused(settings, wrapper?.(world));

      const [first = '', second = '', ...rest] = result.errors.trimEnd().split('\n');
      expect.soft(first).toMatch(/^slipway: \S/);
      if (typeof says === 'string') expect.soft(first).toContain(says);
      else expect.soft(first).toMatch(says);
      expect.soft(second).toMatch(/^ {9}\S/);
      expect.soft(second).toContain(hint);
      expect.soft(rest).toEqual([]);
      expect.soft(result.exitCode).toBe(exitCode);

      repair?.(world);
      await expectToServe({ DATA_DIR: world.dataDir });
    },
  );

  test('a port that is taken; nothing is served by half', async () => {
    const dataDir = join(directory.path, 'port');
    cpSync(template, dataDir, { recursive: true });
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };

    const result = await refused({ DATA_DIR: dataDir, PORT: String(port) });

    expect(result).toEqual({
      exitCode: 1,
      errors: `slipway: Cannot listen on 127.0.0.1:${port}: the port is taken\n         Set HOST and PORT to an address that is free.\n`,
    });
    other.close();
    await expectToServe({ DATA_DIR: dataDir });
  });
});
