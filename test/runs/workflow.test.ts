import { describe, expect, it, test } from 'vitest';
import { isTerminal, type RunState, runStates } from '../../src/runs/run.ts';
import { loopRefusal, maxDepth, maxWorkflowRuns, type WorkflowRun } from '../../src/runs/workflow.ts';
import { fc } from '../support/fast-check.ts';

/** "network FAILED": runs that follow one from the other, the first one first. */
function chain(...runs: readonly string[]): WorkflowRun[] {
  return runs.map((run, depth) => {
    const [stackKey = '', state = ''] = run.split(' ');
    const causeRunId = depth === 0 ? null : `r${depth - 1}`;
    return { id: `r${depth}`, stackKey, state: state as RunState, causeRunId, depth };
  });
}

const lastOf = (runs: readonly WorkflowRun[]): WorkflowRun => runs.at(-1) as WorkflowRun;

describe('the loop guard', () => {
  test.each<[string, string[], string, RegExp | null]>([
    ['another stack', ['network FINISHED'], 'app', null],
    ['the same stack after a success', ['network FINISHED'], 'network', /run r0 .* is FINISHED/],
    ['a retry', ['network FAILED'], 'network', null],
    ['a second retry', ['network FAILED', 'network FAILED'], 'network', null],
    ['after a retry that went well', ['network FAILED', 'network FINISHED'], 'network', /run r1 /],
    ['back to where it began', ['network FINISHED', 'app FINISHED'], 'network', /run r0 /],
    ['back to what had failed', ['network FAILED', 'app FINISHED'], 'network', null],
    ['what a person discarded', ['network DISCARDED'], 'network', /DISCARDED/],
    ['what is not over yet', ['network APPLYING', 'app FINISHED'], 'network', /APPLYING/],
  ])('%s', (_, runs, stackKey, refusal) => {
    const workflow = chain(...runs);
    const said = loopRefusal(workflow, lastOf(workflow), stackKey);
    if (refusal === null) expect(said).toBeNull();
    else expect(said).toMatch(refusal);
  });

  it('ends a chain of retries', () => {
    const runs = Array.from({ length: maxDepth }, () => 'network FAILED');
    const nearly = chain(...runs);
    expect(loopRefusal(nearly, lastOf(nearly), 'network')).toBeNull();
    const whole = chain(...runs, 'network FAILED');
    expect(loopRefusal(whole, lastOf(whole), 'network')).toMatch(/10 runs have followed one from the other/);
  });

  it('lets both arms of a diamond start what joins them', () => {
    const [root, left] = chain('network FINISHED', 'app FINISHED');
    const right = { ...left, id: 'r2', stackKey: 'database' } as WorkflowRun;
    const join = { ...left, id: 'r3', stackKey: 'site', causeRunId: 'r1', depth: 2 } as WorkflowRun;

    expect(loopRefusal([root, left, right, join] as WorkflowRun[], right, 'site')).toBeNull();
  });

  it('counts what is deep even when the runs before are gone', () => {
    const last = { ...lastOf(chain('network FINISHED')), causeRunId: 'gone', depth: maxDepth };
    expect(loopRefusal([last], last, 'app')).toMatch(/10 runs/);
  });

  it('bounds a workflow, whatever policies want and however runs end', () => {
    const ends = runStates.filter(isTerminal);
    const wish = fc.record({ end: fc.constantFrom(...ends), wants: fc.uniqueArray(fc.nat({ max: 14 })) });
    fc.assert(
      fc.property(fc.array(wish, { minLength: 1, maxLength: 40 }), (wishes) => {
        const workflow = follow(wishes);
        expect(workflow.length).toBeLessThanOrEqual(maxWorkflowRuns);
        expect(Math.max(...workflow.map(({ depth }) => depth))).toBeLessThanOrEqual(maxDepth);
      }),
    );
  });

  it('reaches its bound when every run wants everything', () => {
    const everything = Array.from({ length: 30 }, (_, stack) => stack);
    expect(follow([{ end: 'FAILED', wants: everything }])).toHaveLength(maxWorkflowRuns);
  });
});

/** Runs a workflow to its end; the n-th run ends and wants as the n-th wish says, over and over again. */
function follow(wishes: readonly { end: RunState; wants: readonly number[] }[]): readonly WorkflowRun[] {
  const runs: WorkflowRun[] = [{ id: '0', stackKey: 's0', state: 'APPLYING', causeRunId: null, depth: 0 }];
  for (let at = 0; at < runs.length; at += 1) {
    const { end, wants } = wishes[at % wishes.length] as (typeof wishes)[number];
    const after = { ...runs[at], state: end } as WorkflowRun;
    runs[at] = after;
    for (const stack of wants) {
      if (loopRefusal(runs, after, `s${stack}`) !== null) continue;
      const depth = after.depth + 1;
      runs.push({
        id: `${runs.length}`,
        stackKey: `s${stack}`,
        state: 'QUEUED',
        causeRunId: after.id,
        depth,
      });
    }
    // A guard that does not hold must not keep the test from its end.
    if (runs.length > 10 * maxWorkflowRuns) break;
  }
  return runs;
}
