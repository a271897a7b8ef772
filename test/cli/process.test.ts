import { execFile, spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const server = join(root, 'src/main.ts');
const slipway = join(root, 'bin/slipway.js');

/** In no list of users. Only root can be somebody else, and the checkout may lie where others may not read. */
const nobody = 60_001;
const canBeNobody =
  process.getuid?.() === 0 &&
  spawnSync(process.execPath, [slipway, '--version'], { uid: nobody, gid: nobody }).status === 0;

/** As far as the programs can see, this is Node 20. */
const oldNode = [
  '--import',
  'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"20.1.0"})',
];

interface StartOptions {
  /** A user and group that nobody else is; only root can be somebody else. */
  readonly uid?: number;
}

/** Runs Node in an empty directory with these settings and no others. */
async function start(
  argv: readonly string[],
  settings: Readonly<Record<string, string>> = {},
  { uid }: StartOptions = {},
) {
  const cwd = mkdtempSync(join(tmpdir(), 'slipway-process-'));
  if (uid !== undefined) chownSync(cwd, uid, uid);
  const env = { PATH: process.env['PATH'] ?? '', HOME: cwd, ...settings };
  try {
    return await new Promise<{ code: unknown; out: string; err: string }>((resolve) => {
      const as = uid === undefined ? {} : { uid, gid: uid };
      execFile(process.execPath, argv, { cwd, env, timeout: 15_000, ...as }, (error, out, err) =>
        resolve({ code: error === null ? 0 : error.code, out, err }),
      );
    });
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

describe('the process', () => {
  it('does not start the server without the settings of a GitHub App, and names them', async () => {
    const { code, out, err } = await start([server]);

    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^slipway: WEBHOOK_SECRET, APP_ID and PRIVATE_KEY_PATH: missing\n .*\n$/);
  });

  it('says in one line which setting is wrong', async () => {
    const { code, err } = await start([server], { WEBHOOK_SECRETS: 'x' });

    expect(code).toBe(2);
    expect(err).toMatch(/^slipway: WEBHOOK_SECRETS: no such setting\n .*\n$/);
  });

  it('tries the sandbox only with settings that a server would start with', async () => {
    const { code, err } = await start([slipway, 'sandbox', 'self-test'], {
      SANDBOX_UNTRUSTED_HOSTS: 'https://registry.example/',
    });

    expect(code).toBe(2);
    expect(err).toMatch(/^slipway: SANDBOX_UNTRUSTED_HOSTS: "https:\/\/registry\.example\/" is not a host/);
  });

  it('says what keeps the kernel from limiting commands as a whole where the self-test was started', async () => {
    const { out } = await start([slipway, '--json', 'sandbox', 'self-test'], { SANDBOX_NETWORK: 'none' });
    const doctor = await start([slipway, '--json', 'doctor'], { SANDBOX_NETWORK: 'none' });
    const { tier, warnings } = JSON.parse(out);
    const said: string[] = JSON.parse(doctor.out).items.map(({ detail }: { detail: string }) => detail);

    expect(said.join()).toContain(tier);
    expect(said).toEqual(expect.arrayContaining(warnings));
  });

  it('blames no bug of its own where the operating system refuses something', async () => {
    const dataDir = '/etc/passwd/data';
    const { code, err } = await start([slipway, 'sandbox', 'self-test'], { DATA_DIR: dataDir });

    expect(code).toBe(1);
    expect(err).toMatch(/^slipway: E[A-Z]+: .*\/etc\/passwd.*\n +So says the operating system: .*\n$/);
  });

  it.runIf(canBeNobody)('needs neither HOME nor an entry in the list of users', async () => {
    const { code, out } = await start([slipway, 'stack', 'list'], { HOME: '' }, { uid: nobody });

    expect([code, out]).toEqual([0, 'No stacks yet.\n']);
  });

  it('serves the same by `slipway serve`', async () => {
    const [direct, command] = await Promise.all([start([server]), start([slipway, 'serve'])]);

    expect(command).toEqual(direct);
  });

  it.each([[server], [slipway]])('refuses an old Node before it loads anything: %s', async (program) => {
    const { code, err } = await start([...oldNode, program]);

    expect(code).toBe(1);
    expect(err).toMatch(/^Slipway needs Node 24 or newer, this is v[\d.]+: .*\n$/);
  });

  it('ends `slipway setup` cleanly on Ctrl-C', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'slipway-process-'));
    try {
      const env = { PATH: process.env['PATH'] ?? '', HOME: cwd };
      const argv = [slipway, 'setup', '--url', 'https://slipway.example.com'];
      const ended = await new Promise<{ code: unknown; err: string }>((resolve) => {
        const child = execFile(process.execPath, argv, { cwd, env, timeout: 15_000 }, (error, _, err) =>
          resolve({ code: error === null ? 0 : error.code, err }),
        );
        child.stderr?.once('data', () => child.kill('SIGINT'));
      });

      expect(ended.code).toBe(1);
      expect(ended.err).toContain('slipway: Ended before an App was registered.');
      expect(readdirSync(cwd)).toEqual([]);
    } finally {
      rmSync(cwd, { recursive: true, force: true });
    }
  });

  it('knows its version', async () => {
    expect(await start([slipway, '--version'])).toMatchObject({ code: 0, out: '0.1.0\n' });
  });
});
