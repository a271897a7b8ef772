import { describe, expect, it } from 'vitest';
import { leaseMs } from '../../src/engine/sqlite-engine.ts';
import type { ServerApi } from '../../src/worker/server-api.ts';
import { person } from '../support/builders.ts';
import { openWorkerWorld, shellStack } from './worker-world.ts';

const longMs = 60_000;

describe('a worker', () => {
  it('goes from plan to apply with the plan that was saved, and clears up', async () => {
    await using world = await openWorkerWorld();
    await world.addStack(shellStack({ apply: 'cat "$PLAN"' }, {}, { autodeploy: true }));
    const id = await world.pushed('a1');
    const worker = world.startWorker();

    await world.until(id, 'FINISHED');
    await worker.stop(longMs);

    expect(await world.labels(id)).toEqual(['login', 'plan', 'apply']);
    expect(await world.log(id)).toContain('the plan');
    expect(world.workspacesLeft()).toEqual([]);
    expect(await world.database.read.selectFrom('job').selectAll().execute()).toEqual([]);
  });

  it('waits for the confirmation, then applies that plan in the same workspace', async () => {
    await using world = await openWorkerWorld();
    await world.addStack(
      shellStack(
        { apply: 'cat "$PLAN" made-while-planning' },
        { beforePlan: ['echo kept > made-while-planning'] },
      ),
    );
    const id = await world.pushed('a1');
    const worker = world.startWorker();
    await world.until(id, 'UNCONFIRMED');
    expect(world.workspacesLeft()).toEqual([id]);

    await world.commands.confirm(id, { actor: 'ada' });
    await world.until(id, 'FINISHED');
    await worker.stop(longMs);

    expect(await world.log(id)).toMatch(/the plan\nkept/);
    expect(world.workspacesLeft()).toEqual([]);
  });

  it.each([
    ['without autodeploy', false],
    ['with autodeploy, but a lock', true],
  ])(
    'keeps no credentials and no output of commands while it waits for a person, %s',
    async (_, autodeploy) => {
      await using world = await openWorkerWorld();
      const stack = await world.addStack(
        shellStack(
          { login: 'echo secret > ../login/credentials', apply: 'ls ../login; cat "$PLAN"' },
          {},
          { autodeploy },
        ),
      );
      const id = await world.pushed('a1');
      if (autodeploy) await world.stacks.lock(stack, person('bob'), 'audit');
      const worker = world.startWorker();
      await world.until(id, 'UNCONFIRMED');

      expect([world.inWorkspace(id, 'login'), world.inWorkspace(id, 'out')]).toEqual([[], []]);

      await world.commands.confirm(id, { actor: 'ada' });
      await world.until(id, 'FINISHED');
      await worker.stop(longMs);
      expect(await world.log(id)).toMatch(/ls \.\.\/login.*\nthe plan\n/);
    },
  );

  it('carries what hooks export to all that follows, over the confirmation and to after_run', async () => {
    await using world = await openWorkerWorld();
    const say = (where: string) => `echo "${where}: $ONE $TWO"`;
    await world.addStack(
      shellStack(
        { login: say('login'), plan: `${say('plan')}; echo x > "$OUTPUT/plan"`, apply: say('apply') },
        {
          ...{ beforeInit: ['export ONE=1'], beforePlan: [say('before plan')] },
          ...{ beforeApply: ['export TWO=2'], afterRun: [say('after run')] },
        },
      ),
    );
    const id = await world.pushed('a1');
    const worker = world.startWorker();
    await world.until(id, 'UNCONFIRMED');
    await world.commands.confirm(id, { actor: 'ada' });
    await world.until(id, 'FINISHED');
    await worker.stop(longMs);

    const said = (await world.log(id))
      .split('\n')
      .filter((line) => /^(login|before|plan|apply|after)[^"]*:/.test(line));
    expect(said).toEqual(['login:  ', 'before plan: 1 ', 'plan: 1 ', 'apply: 1 2', 'after run: 1 2']);
  });

  it('ends a run at the first hook that fails, and still runs those of the end', async () => {
    await using world = await openWorkerWorld();
    const hooks = { beforePlan: ['exit 3', 'echo never'], afterRun: ['echo one; exit 1', 'echo two'] };
    await world.addStack(shellStack({}, hooks));
    const id = await world.pushed('a1');
    const worker = world.startWorker();

    await world.until(id, 'FAILED');
    await worker.stop(longMs);

    expect(await world.run(id)).toMatchObject({
      outcome: 'hook_failed',
      note: 'The beforePlan hook "exit 3" failed with exit code 3.\nIts output stands in the log of the run.',
    });
    expect(await world.labels(id)).toEqual(['login', 'exit 3', 'echo one; exit 1']);
    expect(await world.log(id)).toContain('[The afterRun hook "echo one; exit 1" failed with exit code 1.]');
    expect(world.workspacesLeft()).toEqual([]);
  });

  it('ends a run of a tool that it does not know', async () => {
    await using world = await openWorkerWorld();
    await world.addStack({ vendor: { unheard: {} } });
    const id = await world.pushed('a1');
    const worker = world.startWorker();

    await world.until(id, 'FAILED');
    await worker.stop(longMs);

    expect((await world.run(id)).outcome).toBe('tool_missing');
    expect(await world.database.read.selectFrom('job').selectAll().execute()).toEqual([]);
  });

  it('ends a run on which it breaks itself, and still does what is due at the end', async () => {
    await using world = await openWorkerWorld();
    await world.addStack(shellStack({}, { afterRun: ['echo the end'] }));
    const id = await world.pushed('a1');
    const worker = world.startWorker({ readPlan: () => Promise.reject(new Error('a bug of the vendor')) });

    await world.until(id, 'FAILED');
    await worker.stop(longMs);

    expect((await world.run(id)).outcome).toBe('internal_error');
    expect(await world.log(id)).toContain('the end');
    expect(world.workspacesLeft()).toEqual([]);
  });
});

describe('a run that ends under its worker', () => {
  it('is stopped at once, its processes are gone, and what is due at the end is done', async () => {
    await using world = await openWorkerWorld();
    const started = world.meetingPoint('started');
    const hooks = { beforePlan: [`echo $$ > ${started.path}; sleep 1000`], afterRun: ['echo the end'] };
    await world.addStack(shellStack({}, hooks));
    const id = await world.pushed('a1');
    const worker = world.startWorker();
    const pid = Number(await started.hear());

    await world.commands.stop(id, { actor: 'ada' });
    await worker.stop(longMs);

    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect((await world.run(id)).state).toBe('STOPPED');
    expect(await world.log(id)).toContain('the end');
    expect(world.workspacesLeft()).toEqual([]);
    expect(await world.claim()).toBeNull();
  });

  it('is left to the next worker when the lease was lost, processes and all', async () => {
    await using world = await openWorkerWorld();
    const started = world.meetingPoint('started');
    const attempt = `touch ../../again; echo $$ > ${started.path}; sleep 1000`;
    await world.addStack(shellStack({}, { beforePlan: [`[ -e ../../again ] || { ${attempt}; }`] }));
    const id = await world.pushed('a1');
    const worker = world.startWorker();
    const pid = Number(await started.hear());

    await world.recovery.start();
    await world.until(id, 'UNCONFIRMED');
    await worker.stop(longMs);

    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect(await world.run(id)).toMatchObject({ state: 'UNCONFIRMED', restarts: 1 });
    expect(world.workspacesLeft()).toEqual([id, 'again']);
  });

  it('leaves the workspace to whoever has the lease when it was lost at the end', async () => {
    await using world = await openWorkerWorld();
    const started = world.meetingPoint('started');
    const afterRun = `[ -e ../../again ] || { touch ../../again; echo > ${started.path}; sleep 1000; }`;
    await world.addStack(shellStack({}, { beforePlan: ['false'], afterRun: [afterRun] }));
    const id = await world.pushed('a1');
    const worker = world.startWorker();
    await started.hear();

    await world.recovery.start();
    await world.until(id, 'FAILED');
    const claims = world.database.read.selectFrom('job').select('attempt');
    await expect.poll(async () => (await claims.execute())[0]?.attempt ?? 0).not.toBe(1);
    await worker.stop(longMs);

    // Nobody knows how far the hook of the first worker came, so the second does not run it again.
    expect(await world.labels(id)).toEqual(['login', 'false']);
    expect(await world.log(id)).toContain('they are not run a second time');
    expect(world.workspacesLeft()).toEqual(['again']);
  });

  it('has its after_run hooks run by the next life of a server that died before they began', async () => {
    const dead = new Promise<never>(() => {});
    let isDead = true;
    await using world = await openWorkerWorld((server) => ({
      async failed(...report: Parameters<ServerApi['failed']>) {
        const answer = await server.failed(...report);
        return isDead ? dead : answer;
      },
    }));
    const afterRun = 'echo the end, $SLIPWAY_RUN_TYPE; cat left';
    await world.addStack(
      shellStack({}, { beforePlan: ['echo from the plan > left', 'false'], afterRun: [afterRun] }),
    );
    const id = await world.pushed('a1');
    world.startWorker();
    await world.until(id, 'FAILED');

    isDead = false;
    await world.recovery.start();
    await world.workspaces.sweep(await world.recovery.needingWorkspace());
    const worker = world.startWorker();
    await expect.poll(() => world.workspacesLeft()).toEqual([]);
    await worker.stop(longMs);

    expect((await world.log(id)).match(/the end, TRACKED\nfrom the plan/g)).toHaveLength(1);
    expect(await world.database.read.selectFrom('job').selectAll().execute()).toEqual([]);
  });

  it('keeps its lease through after_run hooks that take longer than one', async () => {
    const beats: (() => void)[] = [];
    await using world = await openWorkerWorld((server) => ({
      async heartbeat(...asked: Parameters<ServerApi['heartbeat']>) {
        const answer = await server.heartbeat(...asked);
        for (const heard of beats.splice(0)) heard();
        return answer;
      },
    }));
    const nextBeat = () => new Promise<void>((resolve) => beats.push(resolve));
    const [started, go] = [world.meetingPoint('started'), world.meetingPoint('go')];
    const hooks = { beforePlan: ['false'], afterRun: [`echo > ${started.path}; read < ${go.path}`] };
    await world.addStack(shellStack({}, hooks));
    const id = await world.pushed('a1');
    const worker = world.startWorker();
    await started.hear();

    for (let n = 0; n < 4; n += 1) {
      world.clock.advance(leaseMs - 1);
      // One may have looked at the clock before it moved.
      await nextBeat();
      await nextBeat();
      await world.recovery.sweep();
    }
    expect(await world.claim()).toBeNull();
    go.release();
    await worker.stop(longMs);

    expect((await world.run(id)).state).toBe('FAILED');
    expect(await world.database.read.selectFrom('job').selectAll().execute()).toEqual([]);
  });
});
