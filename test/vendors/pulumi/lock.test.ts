import { expect, test } from 'vitest';
import { explainFailure } from '../../../src/vendors/pulumi/failure.ts';
import { pulumiRules } from '../../../src/vendors/pulumi/rules.ts';
import { outputsOf, recording } from './recordings.ts';

const takenMs = Date.parse('2026-01-01T00:00:00Z');
const nowMs = takenMs + 3 * 3_600_000;
const said = (stderrTail: string) =>
  explainFailure({ exitCode: 1, stdoutTail: '', stderrTail }, null, { nowMs });

test('of the lock of files and buckets it is known who holds it, and since when', () => {
  expect(explainFailure(outputsOf(recording('locked')), null, { nowMs })).toMatchObject({
    kind: 'failed',
    message: 'The state is locked, for 3 hours, by somebody@elsewhere, process 4242. Nothing was changed.',
    trouble: {
      kind: 'state-locked',
      lockId: null,
      holder: 'somebody@elsewhere, process 4242',
      sinceMs: takenMs,
    },
  });
});

const head =
  'error: the stack is currently locked by 2 lock(s). Either wait for the other process(es) to end';
const line = (who: string) => `  s3://state/.pulumi/locks/x.json: created by ${who}`;

test.each([
  {
    name: 'several holders',
    stderr: [
      head,
      line('ada@a (pid 1) at 2026-01-01T00:00:00Z'),
      line('bob@b (pid 2) at 2026-01-01T01:00:00Z'),
    ],
    holder: 'ada@a, process 1 and 1 more',
    sinceMs: takenMs,
  },
  {
    name: 'a holder without a time',
    stderr: [head, line('ada@a (pid 1) at noon')],
    holder: 'ada@a, process 1',
    sinceMs: null,
  },
  { name: 'no holder', stderr: [head], holder: null, sinceMs: null },
  { name: 'a line of another form', stderr: [head, line('ada')], holder: null, sinceMs: null },
  {
    name: 'a name without an end',
    stderr: [head, line(`${'a'.repeat(5000)} (pid 1) at noon`)],
    holder: null,
    sinceMs: null,
  },
])('a lock with $name is a lock', ({ stderr, holder, sinceMs }) => {
  expect(said(stderr.join('\n')).trouble).toEqual({ kind: 'state-locked', lockId: null, holder, sinceMs });
});

test("an update under way at Pulumi's service is a lock of which nothing else is known", () => {
  const failure = said('error: [409] Conflict: Another update is currently in progress.\nTo learn more ...');

  expect(failure.message).toBe('The state is locked. Nothing was changed.');
  expect(failure.trouble).toMatchObject({ kind: 'state-locked', holder: null, sinceMs: null });
});

test('is released without a question, and nothing that was read stands in the command', () => {
  const lock = { kind: 'state-locked', lockId: '$(reboot)', holder: '`reboot`', sinceMs: 0 } as const;

  expect(pulumiRules.mend(lock)).toBe('pulumi cancel --yes');
});
