import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { createLogger } from '../../src/logger.ts';
import type { Evaluation, EvaluationRequest, PolicyEngine } from '../../src/policies/engine.ts';
import { createJudging } from '../../src/policies/judging.ts';
import { combinedTimeLimitMs } from '../../src/policies/kinds.ts';
import { manualClock } from '../support/manual-clock.ts';
import { aPolicy } from '../support/policies.ts';

const said = (deny: readonly string[]): Evaluation => ({
  kind: 'evaluated',
  values: { deny },
  durationMs: 7,
});

/** An engine whose answers the test gives. */
function world(evaluate: (request: EvaluationRequest) => Promise<Evaluation>) {
  const clock = manualClock();
  const asked: EvaluationRequest[] = [];
  const engine: Pick<PolicyEngine, 'standing' | 'evaluate'> = {
    standing: async () => ({ kind: 'ready', engine: 'opa 1.22.0', path: '/usr/bin/opa' }),
    evaluate(request) {
      asked.push(request);
      return evaluate(request);
    },
  };
  const judging = createJudging({ engine, clock, logger: createLogger('silent') });
  const ending = new AbortController();
  const judge = (names: readonly string[], input: unknown = {}) =>
    judging.judge(
      'PLAN',
      names.map((name) => aPolicy({ id: name, name, body: name })),
      input,
      { signal: ending.signal },
    );
  return { clock, asked, judge, ending };
}

it('asks each policy by itself, for its own rules, on the same bytes', async () => {
  const { asked, judge } = world(async ({ source }) => said(source.body === 'a' ? ['no ü'] : []));
  const judgements = await judge(['a', 'b'], { text: 'ü' });

  expect(judgements).toMatchObject([
    { policy: { name: 'a' }, outcome: 'denied', messages: ['no ü'], values: { deny: ['no ü'] } },
    { policy: { name: 'b' }, outcome: 'passed', messages: [], failure: null, durationMs: 7 },
  ]);
  const bytes = Buffer.from('{"text":"ü"}');
  const inputDigest = createHash('sha256').update(bytes).digest('hex');
  expect(judgements).toMatchObject([{ inputDigest, engine: 'opa 1.22.0' }, { inputDigest }]);
  expect(asked.map(({ input }) => input)).toEqual([bytes, bytes]);
  expect(asked[0]).toMatchObject({
    source: { body: 'a', regoVersion: 1 },
    rules: ['deny'],
    timeLimitMs: 45_000,
  });
});

it('asks two at most at once, and answers in the order of the policies', async () => {
  const waiting: (() => void)[] = [];
  let [now, most] = [0, 0];
  const { asked, judge } = world(async ({ source }) => {
    now += 1;
    most = Math.max(most, now);
    await new Promise<void>((resolve) => waiting.push(resolve));
    now -= 1;
    return said([source.body]);
  });
  const names = ['a', 'b', 'c', 'd', 'e'];
  const judged = judge(names);
  for (let done = 0; done < names.length; done += 1) {
    await expect.poll(() => waiting.length).toBeGreaterThan(0);
    waiting.pop()?.();
  }
  expect((await judged).map(({ messages }) => messages)).toEqual(names.map((name) => [name]));
  expect([most, asked.length]).toEqual([2, 5]);
});

it('gives all of them together so long, and what comes later fails', async () => {
  const { clock, asked, judge } = world(async () => {
    clock.advance(combinedTimeLimitMs / 2 - 5_000);
    return said([]);
  });
  const judgements = await judge(['a', 'b', 'c', 'd']);
  expect(asked.map(({ timeLimitMs }) => timeLimitMs)).toEqual([45_000, 45_000, 10_000]);
  expect(judgements.map(({ outcome, failure }) => failure?.code ?? outcome)).toEqual([
    ...['passed', 'passed', 'passed', 'timeout'],
  ]);
  expect(judgements[3]).toMatchObject({ outcome: 'failed', values: {}, messages: [] });
});

it('asks nothing more once it is not wanted', async () => {
  const { asked, judge, ending } = world(async () => {
    ending.abort();
    return { kind: 'failed', failure: { code: 'stopped', message: 'stopped' }, durationMs: 1 };
  });
  const codes = (await judge(['a', 'b', 'c'])).map(({ failure }) => failure?.code);
  expect(codes).toEqual(['stopped', 'stopped', 'stopped']);
  expect(asked).toHaveLength(1);
});

it('tells a value of another type, and a set that is not there', async () => {
  const { judge } = world(async ({ source }) => ({
    ...{ kind: 'evaluated', durationMs: 1 },
    values: source.body === 'a' ? { deny: true } : {},
  }));
  const codes = (await judge(['a', 'b'])).map(({ outcome, failure }) => [outcome, failure?.code]);
  expect(codes).toEqual([
    ['failed', 'wrong_type'],
    ['failed', 'undefined'],
  ]);
});

const circle: Record<string, unknown> = {};
circle['circle'] = circle;

it.each([
  ['a function', () => () => 0],
  ['a circle', () => circle],
  ['a number that JSON does not know', () => ({ n: 1n })],
])('judges no input that is %s', async (_what, make) => {
  const { asked, judge } = world(async () => said([]));
  expect(await judge(['a'], make())).toMatchObject([{ outcome: 'failed', failure: { code: 'input' } }]);
  expect(asked).toEqual([]);
});

it('does not reject when the engine does', async () => {
  const { judge } = world(() => Promise.reject(new Error('broken')));
  expect(await judge(['a'])).toMatchObject([{ outcome: 'failed', failure: { code: 'engine' } }]);
});

it('judges nothing without policies', async () => {
  const { asked, judge } = world(async () => said([]));
  expect(await judge([])).toEqual([]);
  expect(asked).toEqual([]);
});
