import { describe, expect, it } from 'vitest';
import { nanosecondsOf } from '../../../src/policies/input/moment.ts';
import { planInputOf } from '../inputs.ts';
import { judged } from './real-opa.ts';

/** Where the language surprises people, or could make a guard fail open: what Slipway makes of it. */
const denied = (rules: string, input: unknown = {}) => judged('PLAN', `package slipway\n${rules}\n`, input);

describe('what is missing', () => {
  it.each([
    [
      'a negated call on something missing is undefined',
      'deny contains "x" if not startswith(input.a, "x")',
      [],
    ],
    ['a negated reference to something missing is true', 'deny contains "x" if not input.a', ['x']],
    [
      'a negated helper is true when its reference is missing',
      'ok if startswith(input.a, "x")\ndeny contains "x" if not ok',
      ['x'],
    ],
    ['a comparison with something missing is undefined', 'deny contains "x" if input.a != "x"', []],
    ['null is there', 'deny contains "x" if input.b == null', ['x']],
    ['every of something missing is undefined', 'deny contains "x" if every a in input.a { a }', []],
    ['every of nothing is true', 'deny contains "x" if every a in [] { a }', ['x']],
  ])('%s', async (_what, rules, messages) => {
    expect(await denied(rules, { b: null })).toMatchObject({ messages, failure: null });
  });
});

describe('what goes wrong', () => {
  it.each([
    ['a built-in function that fails', 'deny contains "x" if to_number(input.a) > 1', 'builtin'],
    ['division by zero', 'deny contains "x" if 1 / input.zero > 1', 'builtin'],
    ['a time zone that is none', 'deny contains time.weekday([input.zero, "Mars/Base"])', 'builtin'],
    [
      'two values for one rule',
      'p := 1 if input.zero == 0\np := 2 if input.a == "abc"\ndeny contains "x" if p == 1',
      'conflict',
    ],
    ['a declared set without a value', 'deny := {"x"} if input.nothing', 'undefined'],
    ['messages that are none', 'deny contains input.zero', 'wrong_type'],
  ])('%s blocks', async (_what, rules, code) => {
    expect(await denied(rules, { a: 'abc', zero: 0 })).toMatchObject({
      outcome: 'failed',
      failure: { code },
    });
  });

  it.each([
    ['v0 without its switch', 'deny[msg] { msg := "x" }'],
    ['the clock', 'deny contains sprintf("%d", [time.now_ns()])'],
    [
      'the network',
      'deny contains "x" if http.send({"method": "get", "url": "http://localhost"}).status_code == 200',
    ],
    ['the machine', 'deny contains "x" if opa.runtime().env.HOME'],
    ['chance', 'deny contains "x" if rand.intn("a", 2) == 1'],
    ['recursion', 'p if q\nq if p\ndeny contains "x" if p'],
    ['an unsafe variable', 'deny contains x if input.a == 1'],
    ['a rule of no kind', 'denied contains "x"'],
  ])('%s cannot be saved', async (_what, rules) => {
    await expect(denied(rules)).rejects.toThrow(/invalid/);
  });
});

describe('texts and numbers', () => {
  it.each([
    ['%v of an object', 'sprintf("%v", [{"b": [1, 2.5], "a": {"x"}}])', '{"a": {"x"}, "b": [1, 2.5]}'],
    ['%v of texts, numbers and null', 'sprintf("%v %v %v %v", ["a", 3, true, null])', 'a 3 true null'],
    ['%d of a fraction', 'sprintf("%d", [3.5])', '%!d(float64=3.5)'],
    ['%s of a number', 'sprintf("%s", [3])', '%!s(int64=3)'],
    ['%q', 'sprintf("%q", ["a\\"b"])', '"a\\"b"'],
    ['an argument that is missing', 'sprintf("%s %s", ["a"])', 'a %!s(MISSING)'],
    ['%.2f', 'sprintf("%.2f", [1.005])', '1.00'],
  ])('%s', async (_what, text, message) => {
    expect((await denied(`deny contains ${text}`)).messages).toEqual([message]);
  });

  it('sets are sorted, each item once', async () => {
    expect((await denied('deny contains m if some m in ["b", "a", "b", "C"]')).messages).toEqual([
      'C',
      'a',
      'b',
    ]);
  });

  it('regular expressions do not run away', async () => {
    const rules = 'deny contains "x" if regex.match("^(a+)+$", input.a)';
    expect(await denied(rules, { a: `${'a'.repeat(10_000)}!` })).toMatchObject({ outcome: 'passed' });
  });

  it('times keep every digit', async () => {
    const ms = 1_795_000_600_123;
    const { messages } = await denied(
      `deny contains sprintf("%d", [input.slipway.request.timestamp_ns])
      deny contains time.format(input.slipway.request.timestamp_ns)`,
      planInputOf([], { nowMs: ms }),
    );
    expect(messages).toEqual([new Date(ms).toISOString(), `${BigInt(ms) * 1_000_000n}`].toSorted());
    expect(JSON.stringify(nanosecondsOf(ms))).toBe('1795000600123000000');
  });
});

describe('Rego v0, where a policy asks for it', () => {
  const body = 'package slipway\ndeny[msg] { input.slipway.run.type == "TRACKED"; msg := "old" }\n';

  it('is read', async () => {
    expect(await judged('PLAN', body, planInputOf([]), 0)).toMatchObject({
      outcome: 'denied',
      messages: ['old'],
    });
  });

  it('is not what v1 is', async () => {
    await expect(judged('PLAN', body, planInputOf([]))).rejects.toThrow(/`if` keyword is required/);
  });

  it('has sets that v1 takes for objects: refused with advice', async () => {
    const v1 = 'package slipway\ndeny[msg] if { msg := "old" }\n';
    await expect(judged('PLAN', v1, planInputOf([]))).rejects.toThrow(/contains/);
  });
});
