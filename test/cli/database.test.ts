import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lockForServer } from '../../src/storage/server-lock.ts';
import { filledDirectory } from '../storage/care/filled-database.ts';
import { anInstallation } from '../web/installation.ts';
import { aCommandLine } from './command-line.ts';

async function world() {
  const installation = anInstallation();
  const filled = await filledDirectory(2);
  const { run, opened } = aCommandLine(installation);
  const { dataDir } = filled.paths;
  const slipway = async (line: readonly string[], environment: Record<string, string> = {}) => {
    const result = await run(line, { environment: { DATA_DIR: dataDir, ...environment } });
    // None of these commands is for an app: it would migrate the database, and need a key.
    expect(opened).toEqual([]);
    return result;
  };
  return {
    slipway,
    paths: filled.paths,
    in: (name: string) => join(filled.directory.path, name),
    async [Symbol.asyncDispose]() {
      filled[Symbol.dispose]();
      await installation[Symbol.asyncDispose]();
    },
  };
}

describe('slipway db', () => {
  it('backs up, checks and restores', async () => {
    await using there = await world();
    const file = there.in('backup.db');

    const made = await there.slipway(['db', 'backup', file, '--json']);
    const again = await there.slipway(['db', 'backup', file]);
    const checked = await there.slipway(['db', 'check', file]);
    const inTheWay = await there.slipway(['db', 'restore', file]);
    const other = {
      DATABASE_URL: `sqlite:${there.in('other/slipway.db')}`,
      SECRET_KEY_PATH: there.paths.secretKeyPath,
    };
    const restored = await there.slipway(['db', 'restore', file, '--json'], other);

    const { path, bytes, takenAt, key } = made.json();
    expect([made.exitCode, made.err, path, bytes]).toEqual([0, '', file, statSync(file).size]);
    expect([again.exitCode, again.out]).toEqual([1, '']);
    expect(again.err).toContain('nothing is overwritten');
    expect([checked.exitCode, checked.out]).toEqual([0, expect.stringMatching(new RegExp(`key +${key}\\n`))]);
    expect(checked.out).toMatch(/state +ok/);
    expect([inTheWay.exitCode, inTheWay.err]).toEqual([
      1,
      expect.stringContaining('There is a database already'),
    ]);
    expect(restored.json()).toEqual({ path: there.in('other/slipway.db'), takenAt, key });
  });

  it('rotates the key, and tells where the old one is', async () => {
    await using there = await world();

    const rotated = await there.slipway(['db', 'rotate-key', '--json']);
    const checked = await there.slipway(['db', 'check', '--json']);

    const { secrets, key, oldKeyPath } = rotated.json();
    expect([rotated.exitCode, rotated.err]).toEqual([0, '']);
    expect(readdirSync(there.paths.dataDir)).toContain(oldKeyPath.split('/').at(-1));
    expect(checked.json()).toMatchObject({ ok: true, secrets, key, takenAt: null });
  });

  it('does not rotate while a server runs, nor without a database', async () => {
    await using there = await world();
    const running = lockForServer(`${there.paths.databasePath}.server-lock`);
    const refused = await there.slipway(['db', 'rotate-key']);
    running[Symbol.dispose]();
    const missing = await there.slipway(['db', 'check', there.in('none.db')]);

    expect([refused.exitCode, refused.err]).toEqual([1, expect.stringContaining('Another Slipway server')]);
    expect([missing.exitCode, missing.err]).toEqual([1, expect.stringContaining('There is no database')]);
  });

  it('fails when something is wrong, and says whose database it looked at', async () => {
    await using there = await world();
    const remote = { SLIPWAY_URL: 'https://slipway.example.com', SLIPWAY_TOKEN: 'slipway_x' };

    const checked = await there.slipway(['db', 'check'], { ...remote, SECRET_KEY_PATH: there.in('none') });

    expect(checked.exitCode).toBe(1);
    expect(checked.out).toMatch(/^FAIL {2}the key file .*none is missing$/m);
    expect(checked.err).toContain('not of SLIPWAY_URL');
  });
});
