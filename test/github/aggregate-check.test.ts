import { describe, expect, test } from 'vitest';
import {
  type AggregateRow,
  type AggregateWish,
  aggregateCheckOf,
  aggregateId,
  parseAggregateId,
} from '../../src/github/feedback/aggregate-check.ts';
import type { Run, RunState } from '../../src/runs/run.ts';
import { runStates } from '../../src/runs/run.ts';
import { aRun } from '../support/builders.ts';
import { fc } from '../support/fast-check.ts';

const commit = 'a'.repeat(40);
const wish: AggregateWish = {
  commit,
  kind: 'preview',
  sinceMs: Date.parse('2026-11-21T10:00:00Z'),
  unaffected: {},
};
const id = aggregateId(21, commit, 'preview');
const settings = {
  publicUrl: 'https://slipway.example.com',
  isSandboxed: true,
  nowMs: Date.parse('2026-11-21T10:05:00Z'),
};
const checkOf = (rows: readonly AggregateRow[], change: Partial<typeof settings> = {}) =>
  aggregateCheckOf(id, wish, rows, { ...settings, ...change });

const notConcerned: AggregateRow = {
  stackId: 'idle',
  run: { reason: 'no changed path belongs to the stack', isStopped: false },
};
const row = (state: RunState, change: Partial<Run> = {}): AggregateRow => ({
  stackId: `of-${state.toLowerCase()}`,
  run: aRun({ id: `run-${state}`, type: 'PROPOSED', state, ...change }),
});

describe('the one check of a commit', () => {
  test('is named by what its runs do, and found again by the commit', () => {
    expect(checkOf([])).toMatchObject({
      ...{ name: 'slipway/preview', head_sha: commit, external_id: `aggregate:21:${commit}:preview` },
      ...{ details_url: 'https://slipway.example.com', started_at: '2026-11-21T10:00:00.000Z', actions: [] },
    });
    expect(aggregateCheckOf(id, { ...wish, kind: 'deploy' }, [], settings).name).toBe('slipway/deploy');
  });

  test.each<[RunState[], string, string | undefined, string]>([
    [[], 'completed', 'neutral', '1 not concerned'],
    [['QUEUED'], 'queued', undefined, '1 under way, 1 not concerned'],
    [['READY', 'QUEUED'], 'queued', undefined, '2 under way, 1 not concerned'],
    [['QUEUED', 'PLANNING'], 'in_progress', undefined, '2 under way, 1 not concerned'],
    [['QUEUED', 'FINISHED'], 'in_progress', undefined, '1 under way, 1 done, 1 not concerned'],
    [['FAILED', 'APPLYING'], 'in_progress', undefined, '1 failed, 1 under way, 1 not concerned'],
    [['UNCONFIRMED', 'PLANNING'], 'in_progress', undefined, '1 waiting, 1 under way, 1 not concerned'],
    [
      ['FAILED', 'UNCONFIRMED', 'FINISHED'],
      'completed',
      'failure',
      '1 failed, 1 waiting, 1 done, 1 not concerned',
    ],
    [
      ['UNCONFIRMED', 'DISCARDED', 'FINISHED'],
      'completed',
      'action_required',
      '1 waiting, 1 ended early, 1 done, 1 not concerned',
    ],
    [['PENDING_REVIEW'], 'completed', 'action_required', '1 waiting, 1 not concerned'],
    [['STOPPED', 'FINISHED'], 'completed', 'cancelled', '1 ended early, 1 done, 1 not concerned'],
    [['CANCELED'], 'completed', 'cancelled', '1 ended early, 1 not concerned'],
    [['FINISHED', 'FINISHED'], 'completed', 'success', '2 done, 1 not concerned'],
  ])('of %j is %s, %s', (states, status, conclusion, title) => {
    const check = checkOf([...states.map((state) => row(state)), notConcerned]);

    expect([check.status, check.conclusion, check.output.title]).toEqual([status, conclusion, `${title}`]);
    expect(check.completed_at).toBe(status === 'completed' ? '2026-11-21T10:05:00.000Z' : undefined);
  });

  test('lists its stacks, first what somebody has to look at', () => {
    const delta = { added: 1, changed: 2, deleted: 3, resources: 9 };
    const { summary } = checkOf([notConcerned, row('FINISHED', { delta }), row('FAILED')]).output;

    expect(summary.split('\n')).toEqual([
      '| Stack | State | Changes | |',
      '|---|---|---|---|',
      '| of-failed | Failed |  | [run](https://slipway.example.com/runs/run-FAILED) |',
      '| of-finished | Previewed | +1 ~2 -3 | [run](https://slipway.example.com/runs/run-FINISHED) |',
      '| idle | Not concerned | no changed path belongs to the stack | |',
    ]);
  });

  test('says so when no stack is concerned, and on a server without a sandbox', () => {
    expect(checkOf([]).output).toEqual({
      title: 'No stack is concerned',
      summary: 'No stack of the repository is concerned.',
    });
    expect(checkOf([], { isSandboxed: false }).output.summary).toContain('without a sandbox');
  });

  test('of a thousand stacks fits, and says how many are left', () => {
    const many = Array.from({ length: 1000 }, (_, index) => ({
      ...row('FINISHED'),
      stackId: `${'s'.repeat(60)}${index}`,
    }));
    const { summary } = checkOf(many).output;

    expect(summary.length).toBeLessThan(65_535);
    const shown = summary.match(/^\| s/gm)?.length ?? 0;
    expect(summary).toContain(`And ${1000 - shown} more.`);
  });

  test('has a conclusion exactly when nothing is under way', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...runStates), { maxLength: 8 }), (states) => {
        const check = checkOf(states.map((state) => row(state)));
        const alone = states.map((state) => checkOf([row(state)]));
        const isOver = alone.every(({ status }) => status === 'completed');
        expect(check.status === 'completed').toBe(isOver);
        expect(check.conclusion !== undefined).toBe(isOver);
      }),
    );
  });
});

test('only its own ids are read', () => {
  expect(parseAggregateId(id)).toEqual({ repositoryId: 21, commit, kind: 'preview' });
  for (const other of [
    '',
    '01JRUN',
    `aggregate:21:${commit}`,
    `aggregate:x:${commit}:deploy`,
    `${id}x`,
    `x${id}`,
  ]) {
    expect(parseAggregateId(other)).toBeNull();
  }
});
