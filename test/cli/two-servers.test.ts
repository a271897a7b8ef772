import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { freePort } from '../../demo/server-process.ts';
import { waitFor } from '../../demo/wait.ts';
import { tempDirectory } from '../support/temp-database.ts';

const root = join(import.meta.dirname, '../..');
const refusal = /^slipway: Another Slipway server uses this data directory\.\n +Stop it first [^\n]*\n$/;
const patient = { timeoutMs: 15_000 };

/** Servers of one data directory, as an operator who makes a mistake starts them. */
function oneDataDirectory() {
  const directory = tempDirectory();
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  const keyPath = join(directory.path, 'app.pem');
  writeFileSync(keyPath, privateKey);
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: directory.path,
    DATA_DIR: join(directory.path, 'data'),
    SANDBOX: 'none',
    APP_ID: '1',
    PRIVATE_KEY_PATH: keyPath,
    WEBHOOK_SECRET: 'secret',
    GHE_HOST: '127.0.0.1:1',
    GHE_PROTOCOL: 'http',
  };
  const children: ChildProcess[] = [];

  function start(port: number) {
    const child = spawn(process.execPath, [join(root, 'src/main.ts')], {
      cwd: directory.path,
      env: { ...env, PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    children.push(child);
    const url = `http://127.0.0.1:${port}`;
    const exited = once(child, 'close') as Promise<[number | null]>;
    const said: Buffer[] = [];
    child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
    const answers = async () => (await fetch(`${url}/healthz`).catch(() => null))?.status === 200;
    const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
    const exit = async () => (await exited)[0];
    return { child, url, answers, hasEnded, exit, said: () => Buffer.concat(said).toString() };
  }

  async function slipway(...args: string[]): Promise<string> {
    const options = { cwd: directory.path, env, timeout: 15_000 };
    return (await promisify(execFile)(process.execPath, [join(root, 'bin/slipway.js'), ...args], options))
      .stdout;
  }

  return {
    start,
    slipway,
    async [Symbol.asyncDispose]() {
      for (const child of children.filter(
        ({ exitCode, signalCode }) => exitCode === null && signalCode === null,
      )) {
        const exited = once(child, 'exit');
        child.kill('SIGKILL');
        await exited;
      }
      directory[Symbol.dispose]();
    },
  };
}

it('of two servers that start on an empty data directory at the same instant one runs, the other says why not', {
  timeout: 60_000,
}, async () => {
  await using data = oneDataDirectory();
  const both = [data.start(await freePort()), data.start(await freePort())];
  await waitFor('one of them to end', () => both.some((each) => each.hasEnded()), patient);
  const [refused, winner] = both[0]?.hasEnded() ? both : both.toReversed();
  if (!refused || !winner) throw new Error('there are two');

  expect([await refused.exit(), refused.said()]).toEqual([1, expect.stringMatching(refusal)]);
  await waitFor('the other to listen', winner.answers, patient);

  const token = JSON.parse(
    await data.slipway('token', 'create', '--name', 't', '--role', 'reader', '--json'),
  );
  const headers = { authorization: `Bearer ${token.token}` };
  expect((await fetch(`${winner.url}/api/v1/stacks`, { headers })).status).toBe(200);

  const third = data.start(await freePort());
  expect([await third.exit(), third.said()]).toEqual([1, expect.stringMatching(refusal)]);
  expect(await winner.answers()).toBe(true);

  winner.child.kill('SIGKILL');
  await winner.exit();
  const next = data.start(await freePort());
  await waitFor('the next to listen', next.answers, patient);
  expect((await fetch(`${next.url}/api/v1/stacks`, { headers })).status).toBe(200);
  next.child.kill('SIGTERM');
  expect([await next.exit(), next.said()]).toEqual([0, '']);
});
