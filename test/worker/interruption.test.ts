import { expect, it } from 'vitest';
import { defaultLimits } from '../../src/sandbox/limits.ts';
import type { SandboxResult } from '../../src/sandbox/sandbox.ts';
import { createBudget } from '../../src/worker/budget.ts';
import { describeResult, interruption } from '../../src/worker/interruption.ts';
import type { PhaseContext } from '../../src/worker/run-context.ts';

const mebibyte = 1024 * 1024;
const limits = { ...defaultLimits, processes: 60, memoryBytes: 80 * mebibyte, fileBytes: mebibyte };
const usage = { peakMemoryBytes: 120.5 * mebibyte, peakProcesses: 59, cpuMs: 10 };
const ended = { durationMs: 1000, usage } as const;
const aftermath = 'What it did until then stays done: check the real state first.';

function told(result: SandboxResult, half: PhaseContext['half'] = 'plan') {
  const phase = { half, phase: 'planning', budget: createBudget(limits) } as const;
  // It says words, and writes nothing.
  const context: PhaseContext = { ...phase, log: null as never };
  const failure = interruption(result, 'The hook', context);
  return { ...failure, log: describeResult(result, context) };
}

it('says of a command that failed with as many processes as it may have how many these were', () => {
  expect(told({ kind: 'process_limit', exitCode: 3, ...ended }, 'apply')).toEqual({
    kind: 'failed',
    outcome: 'process_limit',
    note:
      'The hook failed (exit code 3): it had 59 processes and threads at once and may have 60, those of its sandbox included.\n' +
      `Make it start fewer at a time, or have an operator raise SANDBOX_PROCESSES. ${aftermath}`,
    log: 'process_limit: it had 59 processes and threads at once and may have 60, those of its sandbox included. Exit 3',
  });
});

it('says of a file that became too large how large one may be', () => {
  const result = { kind: 'disk_limit', reason: 'file', exitCode: 153, ...ended } as const;
  expect(told(result)).toMatchObject({
    outcome: 'disk_limit',
    note: 'The hook failed (exit code 153): one of its files grew over 1 MiB, the most that a single file may have.\nWrite less, or in parts.',
    log: expect.stringMatching(/^disk_limit: one of its files .* may have\. Exit 153$/),
  });
});

it('says where files in memory are, and how many there may be', () => {
  const result = { kind: 'disk_limit', reason: 'temporary', exitCode: null, ...ended } as const;
  expect(told(result)).toMatchObject({
    outcome: 'disk_limit',
    note: expect.stringContaining(
      'more than 100000 files and directories in memory (/dev/shm).\nMake fewer, ',
    ),
  });
});

it('says what was held, and the limit where it is not known', () => {
  expect(told({ kind: 'memory_limit', exitCode: null, ...ended }).log).toBe(
    'out_of_memory: its processes together held 120.5 MiB of memory, files in /dev/shm included, and may hold 80 MiB. Killed',
  );
  const unmeasured = { ...usage, peakMemoryBytes: null };
  expect(told({ kind: 'memory_limit', exitCode: null, durationMs: 1, usage: unmeasured }).log).toBe(
    'out_of_memory: its processes together held too much memory, files in /dev/shm included, and may hold 80 MiB. Killed',
  );
});
