/** The whole way of a backup: taken of a server in the middle of its work, restored after a loss. */
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { program, startScenario, stash } from '../support/scenario.ts';

const commandLine = fileURLToPath(new URL('../../bin/slipway.js', import.meta.url));
const timeout = 240_000;

test('a backup of a working server is restored: nothing is applied again, every stack waits for a person', {
  timeout,
}, async () => {
  await using scenario = await startScenario();
  const { api, dataDir, dir, server } = scenario;
  const slipway = async (...args: readonly string[]) => {
    const env = { PATH: process.env['PATH'] ?? '', DATA_DIR: dataDir };
    const { stdout } = await execa(process.execPath, [commandLine, ...args, '--json'], {
      cwd: dir,
      env,
      extendEnv: false,
    });
    return JSON.parse(stdout);
  };
  const applied = await scenario.addStack('applied', { hooks: { beforeApply: ['echo applied once'] } });
  const waiting = await applied.push(program(stash('one', '1')));
  await api.waitForState(waiting.id, 'UNCONFIRMED');
  const hanging = await scenario.addStack('hanging', {
    autodeploy: true,
    hooks: { beforeApply: ['sleep 100'] },
  });
  const interrupted = await hanging.push(program(stash('one', '1')));
  await api.waitForState(interrupted.id, 'APPLYING');
  const quiet = await scenario.addStack('quiet');
  const preview = await quiet.push(program(stash('one', '1')), { branch: 'topic' });
  await api.waitForState(preview.id, 'FINISHED');

  const backup = join(dir, 'backup.db');
  await slipway('db', 'backup', backup);
  // What the backup will not know of.
  await api.act(waiting.id, 'confirm');
  await api.waitForState(waiting.id, 'FINISHED');
  await server.kill9();
  for (const end of ['', '-wal', '-shm']) {
    await rename(join(dataDir, `slipway.db${end}`), join(dir, `lost.db${end}`)).catch(() => undefined);
  }
  await slipway('db', 'restore', backup);
  expect(await slipway('db', 'check')).toMatchObject({ ok: true, takenAt: expect.any(Number) });
  await server.start();

  expect(await api.run(waiting.id)).toMatchObject({ state: 'DISCARDED', outcome: 'backup_restored' });
  expect(await api.run(interrupted.id)).toMatchObject({ state: 'FAILED', outcome: 'worker_lost' });
  expect(await api.run(preview.id)).toMatchObject({ state: 'FINISHED' });
  for (const { stack } of [applied, hanging, quiet]) {
    const found = await slipway('stack', 'show', `${stack.account}/${stack.id}`);
    expect(found, stack.id).toMatchObject({ lock: { holder: 'slipway' } });
  }
  const next = await quiet.push(program(stash('one', '2')));
  expect(next.state).toBe('QUEUED');
  expect(await slipway('db', 'check')).toMatchObject({ ok: true, takenAt: null });

  await slipway('stack', 'unlock', `${quiet.stack.account}/${quiet.stack.id}`);
  await api.waitForState(next.id, 'UNCONFIRMED');
  await api.act(next.id, 'confirm');
  await api.waitForState(next.id, 'FINISHED');
});
