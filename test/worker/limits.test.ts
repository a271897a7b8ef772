import { describe, expect, it } from 'vitest';
import type { Limits } from '../../src/sandbox/sandbox.ts';
import { openWorkerWorld, shellStack } from './worker-world.ts';

const longMs = 60_000;
const mebibyte = 1024 * 1024;

/** A run of these scripts and hooks under these limits, up to its end and that of its worker. */
async function ended(limits: Partial<Limits>, ...stack: Parameters<typeof shellStack>) {
  const world = await openWorkerWorld(undefined, limits);
  await world.addStack(shellStack(...stack));
  const id = await world.pushed('a1');
  const worker = world.startWorker();
  await world.until(id, 'FAILED');
  await worker.stop(longMs);
  const { outcome, note } = await world.run(id);
  return {
    ...{ outcome, note: note ?? '', log: await world.log(id), labels: await world.labels(id) },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

describe('the time of a phase', () => {
  it('is shared by its hooks and its command: whoever is at it when it runs out is stopped', async () => {
    const hooks = { beforePlan: ['sleep 1', 'sleep 1'], afterRun: ['sleep 1; echo "the end"'] };
    const scripts = { login: 'sleep 1', plan: 'sleep 1' };
    await using run = await ended({ wallMs: 2500 }, scripts, hooks);

    expect(run.outcome).toBe('timeout');
    // The login has its phase, and what follows the run has one, too.
    expect(run.labels).toEqual(['login', 'sleep 1', 'sleep 1', 'plan', 'sleep 1; echo "the end"']);
    expect(run.note).toBe(
      '`bash -c sleep 1` was stopped: the phase planning may take 2.5 seconds in all, its hooks included.\n' +
        'The log shows where the time went; make that shorter, or split the stack.',
    );
    expect(run.log).toMatch(/\[timeout: more than 2\.5 seconds in this phase\. Stopped in 0\.\d\d s\]/);
    expect(run.log).toMatch(/^the end$/m);
  });

  it('is not shared by an apply and its plan; what an apply did stays done, and the note says so', async () => {
    const scripts = { plan: 'sleep 1; echo x > "$OUTPUT/plan"', apply: 'sleep 1' };
    const hooks = { beforeApply: ['sleep 1'] };
    await using run = await ended({ wallMs: 1900 }, scripts, hooks, { autodeploy: true });

    expect(run.outcome).toBe('timeout');
    expect(run.labels).toEqual(['login', 'plan', 'sleep 1', 'apply']);
    expect(run.note).toContain('the phase applying may take 1.9 seconds in all');
    expect(run.note).toContain('check the real state first');
  });
});

describe('the silence of a command', () => {
  it('is its own: what others said or kept to themselves before counts for nothing', async () => {
    const hooks = { beforePlan: ['sleep 0.6', 'sleep 0.6', 'sleep 20'] };
    await using run = await ended({ silenceMs: 1000 }, {}, hooks);

    expect(run.outcome).toBe('timeout');
    expect(run.labels.at(-1)).toBe('sleep 20');
    expect(run.note).toContain('The beforePlan hook "sleep 20" was stopped: it wrote nothing for 1 second.');
    expect(run.log).toContain('[timeout: no output for 1 second. Stopped in 1.');
  });
});

describe('the output of a phase', () => {
  it('is counted over its commands, cut at the cap, and the log says so', async () => {
    const half = 'head -c 200000 /dev/zero | tr "\\0" x';
    const hooks = { beforePlan: [half, `${half}; sleep 60`] };
    await using run = await ended({ outputBytes: mebibyte / 4 }, { login: half }, hooks);

    expect(run.outcome).toBe('output_limit');
    expect(run.note).toContain('the phase planning may write 256 KiB of output in all');
    expect(run.log).toContain('[output_limit: more than 256 KiB in this phase; what followed is not kept.');
    const planning = run.log.slice(run.log.indexOf('exit 0') + 6);
    expect(planning.replaceAll(/[^x]/g, '').length).toBeGreaterThanOrEqual(mebibyte / 4);
    expect(planning.length).toBeLessThan(mebibyte / 4 + 3000);
  });
});

describe('the memory of a command', () => {
  const hold = (megabytes: number) => `(head -c ${megabytes}M /dev/zero; sleep 60) | tail -n 1`;

  it('is that of all its processes: a hook that takes too much is killed, and the note says how much', async () => {
    const hooks = { beforePlan: [`${hold(60)} & ${hold(60)}`], afterRun: ['echo "the end"'] };
    await using run = await ended({ memoryBytes: 80 * mebibyte }, {}, hooks);

    expect(run.outcome).toBe('out_of_memory');
    expect(run.note).toMatch(/ was stopped: its processes together held 1\d\d(\.\d)? MiB of memory, /);
    expect(run.note).toMatch(/ and may hold 80 MiB\.\nMake it do less .*SANDBOX_MEMORY_MB\.$/);
    expect(run.log).toMatch(/\[out_of_memory: .* and may hold 80 MiB\. Killed in /);
    expect(run.log).toMatch(/^the end$/m);
  });

  it('counts for an apply, too; what it did stays done, and the note says so', async () => {
    const scripts = { plan: 'echo x > "$OUTPUT/plan"', apply: hold(120) };
    await using run = await ended({ memoryBytes: 80 * mebibyte }, scripts, {}, { autodeploy: true });

    expect(run.outcome).toBe('out_of_memory');
    expect(run.note).toContain('check the real state first');
  });
});

describe('the processes of a command', () => {
  it('are counted, and too many of them are its end', async () => {
    const many = 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 60 & done; wait';
    await using run = await ended({ processes: 10 }, {}, { beforePlan: [many] });

    expect(run.outcome).toBe('process_limit');
    expect(run.note).toContain(' and may have 10, those of its sandbox included.\n');
    expect(run.log).toMatch(
      /\[process_limit: it had 1\d processes and threads at once and may have 10, those of its sandbox included\. Killed in /,
    );
  });
});

describe('the disk of a run', () => {
  it('is watched: who fills the workspace is stopped', async () => {
    const fill = 'while :; do head -c 200000 /dev/zero >> "$HOME/filling"; sleep 0.02; done';
    await using run = await ended({ diskBytes: 2 * mebibyte }, {}, { beforePlan: [fill] });

    expect(run.outcome).toBe('disk_limit');
    expect(run.note).toContain('the workspace grew over 2 MiB');
    expect(run.log).toContain('[disk_limit: the workspace grew over 2 MiB.');
  });

  it('is watched for names, too', async () => {
    const litter = 'i=0; while :; do mkdir "$HOME/$i"; i=$((i + 1)); done';
    await using run = await ended({ diskEntries: 300 }, {}, { beforePlan: [litter] });

    expect(run.outcome).toBe('disk_limit');
    expect(run.note).toContain('more than 300 files and directories');
  });

  it('runs full by anybody: a plan ends, with a word for the operator', async () => {
    await using run = await ended({ freeBytes: 2 ** 60 }, { plan: 'sleep 60' });

    expect(run.outcome).toBe('disk_limit');
    expect(run.note).toContain('An operator must make room');
  });
});
