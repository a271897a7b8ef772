import { describe, expect, it } from 'vitest';
import { createLogger } from '../../src/logger.ts';
import type { DoctorReport } from '../../src/web/health.ts';
import { listen } from '../../src/web/listen.ts';
import { anInstallation } from '../web/installation.ts';
import { aCommandLine } from './command-line.ts';

describe('slipway token', () => {
  it('makes a token that works at once, shows it once, and takes it back', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);

    const made = (await run('token create --name ci --role writer --account acme --json')).json();
    const list = await run('token list --json');
    const actor = await installation.tokens.authenticate(made.token);
    const revoked = await run(`token revoke ${made.id}`);
    const twice = await run(`token revoke ${made.id}`);

    expect(made).toEqual({
      id: expect.any(String),
      token: expect.stringMatching(/^slipway_/),
      name: 'ci',
      role: 'writer',
      account: 'acme',
      createdAt: expect.any(Number),
      createdBy: 'operator',
      expiresAt: null,
      lastUsedAt: null,
    });
    expect(actor).toMatchObject({ kind: 'token', role: 'writer', account: 'acme' });
    const { token, ...rest } = made;
    expect(list.json()).toEqual({ items: [rest] });
    expect(list.out).not.toContain(token);
    expect([revoked.exitCode, twice.exitCode]).toEqual([0, 3]);
    expect(await installation.tokens.authenticate(token)).toBeNull();
  });

  it('makes one that ends, and says so', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);

    const before = Math.floor(Date.now() / 1000);
    const line = 'token create --name ci --role reader --expires-in 3650d --json';
    const made = (await run(line)).json();

    expect(made.expiresAt - before - 3650 * 86_400).toBeLessThan(60);
    expect(made.expiresAt).toBeGreaterThanOrEqual(before + 3650 * 86_400);
    expect((await run('token list')).out).toMatch(/LAST USED +EXPIRES\n.* never +\d{4}-/);
    expect((await run('token create --name x --role reader --expires-in soon')).err).toContain(
      '--expires-in',
    );
  });

  it.each(['token create --role writer', 'token create --name x', 'token create --name x --role boss'])(
    '%s is a usage error',
    async (line) => {
      await using installation = anInstallation();

      expect((await aCommandLine(installation).run(line)).exitCode).toBe(2);
    },
  );
});

describe('slipway doctor', () => {
  it('lists what it found, with what to do', async () => {
    await using installation = anInstallation();

    const result = await aCommandLine(installation).run('doctor');

    expect(result.exitCode).toBe(0);
    expect(result.out.split('\n')).toEqual([
      'ok    node    24.21.0',
      'WARN  github  no settings',
      '              See .env.example.',
      '',
    ]);
  });

  it('asks GitHub only when it is told to', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);

    const [without, with_] = [await run('doctor'), await run('doctor --github')];

    expect(without).toMatchObject({ exitCode: 0, out: expect.not.stringContaining('github app') });
    expect(with_).toMatchObject({
      exitCode: 1,
      out: expect.stringMatching(/^FAIL {2}github app {2}unknown$/m),
    });
  });

  it('ends with 1 when something needed is missing', async () => {
    await using installation = anInstallation();
    const report: DoctorReport = {
      ok: false,
      items: [{ name: 'sandbox', status: 'problem', detail: 'none' }],
    };

    const human = await aCommandLine(installation, report).run('doctor');
    const json = await aCommandLine(installation, report).run('doctor --json');

    expect(human).toMatchObject({ exitCode: 1, out: 'FAIL  sandbox  none\n', err: '' });
    expect(json.exitCode).toBe(1);
    expect(json.json()).toEqual(report);
  });
});

describe('the command line', () => {
  it('talks to a remote server with a token', async () => {
    await using installation = anInstallation();
    const { run, opened } = aCommandLine(installation);
    await installation.addStack();
    const logger = createLogger('silent');
    await using server = await listen(installation.web, { host: '127.0.0.1', port: 0, logger });
    const environment = { SLIPWAY_URL: `${server.url}/`, SLIPWAY_TOKEN: await installation.token('reader') };

    const list = await run('stack list --json', { environment });
    const forbidden = await run('run trigger acme/network-prod', { environment });
    const wrong = await run('stack list', {
      environment: { ...environment, SLIPWAY_TOKEN: 'slipway_wrong' },
    });

    expect(list.json().items).toHaveLength(1);
    expect([forbidden.exitCode, wrong.exitCode]).toEqual([4, 4]);
    expect(wrong.err).toContain('slipway: The token is not valid.');
    expect(opened).toEqual([]);
  });

  it('says when the server cannot be reached, or is another', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    const logger = createLogger('silent');
    const server = await listen(installation.web, { host: '127.0.0.1', port: 0, logger });
    const at = (SLIPWAY_URL: string) => ({ environment: { SLIPWAY_URL, SLIPWAY_TOKEN: 'slipway_x' } });

    const other = await run('stack list', at(`${server.url}/elsewhere`));
    await server[Symbol.asyncDispose]();
    const gone = await run('stack list --json', at(server.url));

    expect(other.exitCode).toBe(3);
    expect(gone.exitCode).toBe(7);
    expect(gone.json()).toMatchObject({ code: 'server-unreachable' });
    expect(gone.err).toContain(server.url);
  });

  it.each([
    ['a page', '<html></html>', 200],
    ['other JSON', '{"items":[{"a":1}],"nextCursor":null}', 200],
    ['an error page', '<html></html>', 502],
  ])('says when it is answered by %s', async (_, body, status) => {
    await using installation = anInstallation();
    const { web } = installation;
    const other = { ...web, fetch: async () => new Response(body, { status }) };
    await using server = await listen(other, { host: '127.0.0.1', port: 0, logger: createLogger('silent') });
    const environment = { SLIPWAY_URL: server.url, SLIPWAY_TOKEN: 'slipway_x' };

    const result = await aCommandLine(installation).run('stack list', { environment });

    expect(result).toMatchObject({ exitCode: 1, out: '' });
    expect(result.err).toContain('Is SLIPWAY_URL the address of the server itself?');
  });

  it('names a wrong setting', async () => {
    await using installation = anInstallation();

    const result = await aCommandLine(installation).run('stack list', {
      environment: { SLIPWAY_TOKEM: 'x' },
    });

    expect(result).toMatchObject({ exitCode: 2, out: '', err: expect.stringContaining('SLIPWAY_TOKEM') });
  });

  it.each(['--help', 'stack --help', 'run logs --help', '--version'])('%s is no failure', async (line) => {
    await using installation = anInstallation();

    const result = await aCommandLine(installation).run(line);

    expect(result).toMatchObject({ exitCode: 0, err: '' });
    expect(result.out).not.toBe('');
  });

  it.each(['stack', 'nonsense', '--nonsense', 'stack --json'])(
    '%s alone is a usage error in one line and a hint',
    async (line) => {
      await using installation = anInstallation();

      const result = await aCommandLine(installation).run(line);

      expect(result.exitCode).toBe(2);
      expect(result.err.trimEnd().split('\n')).toHaveLength(2);
      expect(result.out.includes('"usage"')).toBe(line.includes('--json'));
    },
  );

  it.each([
    ['run frobnicate', 'frobnicate', 'slipway run --help'],
    ['run frobnicate --help', 'frobnicate', 'slipway run --help'],
    ['stack env --json nonsense', 'nonsense', 'slipway stack env --help'],
    ['frobnicate run --json', 'frobnicate', 'slipway --help'],
  ])('%s is a usage error that says which word and where to look', async (line, word, help) => {
    await using installation = anInstallation();

    const result = await aCommandLine(installation).run(line);

    expect(result.exitCode).toBe(2);
    expect(result.err).toBe(`slipway: unknown command '${word}'\n         See: ${help}\n`);
    if (!line.includes('--json')) expect(result.out).toBe('');
    else
      expect(result.json()).toEqual({
        code: 'usage',
        detail: `unknown command '${word}'`,
        hint: `See: ${help}`,
      });
  });

  it.each(['run show --json', 'run --json', 'webhook update x --json', 'token create --json'])(
    '%s: a usage error in JSON carries its hint',
    async (line) => {
      await using installation = anInstallation();

      const result = await aCommandLine(installation).run(line);

      expect(result.exitCode).toBe(2);
      expect(result.json()).toEqual({
        code: 'usage',
        detail: expect.any(String),
        hint: expect.stringContaining('--help'),
      });
    },
  );

  it('prints exactly one JSON value whatever happens', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    await installation.addStack();

    for (const line of [
      'stack list',
      'stack show network-prod',
      'stack show none',
      'stack lock network-prod',
      'stack unlock network-prod',
      'stack env list network-prod',
      'stack delete network-prod',
      'run list network-prod',
      'run trigger network-prod',
      'run trigger network-prod --type TASK',
      'webhook list network-prod',
      'token list',
      'doctor',
    ]) {
      const result = await run(`${line} --json`);
      expect(() => result.json(), line).not.toThrow();
    }
  });
});
