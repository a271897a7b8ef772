import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { formOf, sendToGithub, visit } from '../github/setup/browser.ts';
import { startGithub } from '../github/support.ts';
import { tempDirectory } from '../support/temp-database.ts';
import { anInstallation } from '../web/installation.ts';
import { aCommandLine } from './command-line.ts';

const url = 'https://slipway.example.com';

describe('slipway setup', () => {
  it('registers the App through the browser and says what comes next', async () => {
    await using installation = anInstallation();
    await using started = await startGithub();
    using directory = tempDirectory();
    const link = Promise.withResolvers<string>();
    const onErr = (text: string) => {
      const found = /http:\/\/127\.0\.0\.1:\d+\/[\w-]+/.exec(text)?.[0];
      if (found) link.resolve(found);
    };
    const environment = { GHE_HOST: new URL(started.github.url).host, GHE_PROTOCOL: 'http' };
    const running = aCommandLine(installation).run(`setup --url ${url}/ --organisation acme --json`, {
      ...{ directory: directory.path, environment, onErr },
    });
    await visit(await sendToGithub(formOf((await visit(await link.promise)).text)));

    const result = await running;

    const { app } = started.github;
    expect(result.exitCode).toBe(0);
    expect(result.json()).toEqual({
      appId: app.id,
      name: 'Slipway',
      url: `${started.github.url}/apps/slipway`,
      installUrl: `${started.github.url}/apps/slipway/installations/new`,
      envPath: join(directory.path, '.env'),
      privateKeyPath: join(directory.path, `slipway-${app.id}.private-key.pem`),
    });
    const env = parseEnv(readFileSync(join(directory.path, '.env'), 'utf8'));
    expect(env).toMatchObject({ ...environment, PUBLIC_URL: url, APP_ID: String(app.id) });
    for (const secret of [env['WEBHOOK_SECRET'] ?? '?', 'PRIVATE KEY']) {
      expect(result.out + result.err).not.toContain(secret);
    }
  });

  it.each([
    'setup',
    'setup --url slipway.example.com',
    'setup --url https://me:secret@slipway.example.com',
    `setup --url ${url}?a=1`,
    `setup --url ${url}/slipway`,
    `setup --url ${url} --port 70000`,
    `setup --url ${url} --org a/b`,
    `setup --url ${url} --name ${'x'.repeat(35)}`,
  ])('%s is a usage error', async (line) => {
    await using installation = anInstallation();

    expect(await aCommandLine(installation).run(line)).toMatchObject({ exitCode: 2, out: '' });
  });

  it('does not write what the environment would override', async () => {
    await using installation = anInstallation();
    using directory = tempDirectory();
    writeFileSync(join(directory.path, '.env'), 'APP_ID=1\n');
    const run = (APP_ID: string) =>
      aCommandLine(installation).run(`setup --url ${url}`, {
        ...{ directory: directory.path, environment: { APP_ID } },
      });

    const [shadowed, taken] = [await run('2'), await run('1')];

    expect(shadowed).toMatchObject({ exitCode: 2, err: expect.stringContaining('wins over .env') });
    expect(taken).toMatchObject({ exitCode: 1, err: expect.stringContaining('--force') });
  });

  it('ends when it is interrupted', async () => {
    await using installation = anInstallation();
    using directory = tempDirectory();
    const interrupt = new AbortController();

    const result = await aCommandLine(installation).run(`setup --url ${url}`, {
      ...{ directory: directory.path, signal: interrupt.signal, onErr: () => interrupt.abort() },
    });

    expect(result).toMatchObject({ exitCode: 1, out: '' });
    expect(result.err).toContain('Ended before an App was registered.');
  });
});
