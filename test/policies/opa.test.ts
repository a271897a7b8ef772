import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Evaluation } from '../../src/policies/engine.ts';
import { createOpa } from '../../src/policies/opa.ts';
import { fc } from '../support/fast-check.ts';
import { anOpaWorld, type OpaWorld } from './opa-world.ts';

let world: OpaWorld;
beforeAll(async () => {
  world = await anOpaWorld();
});
afterAll(() => world[Symbol.dispose]());

function valuesOf(evaluation: Evaluation) {
  if (evaluation.kind === 'failed') throw new Error(JSON.stringify(evaluation.failure));
  return evaluation.values;
}

function failureOf(evaluation: Evaluation) {
  if (evaluation.kind === 'evaluated') throw new Error(`it gave ${JSON.stringify(evaluation.values)}`);
  return evaluation.failure;
}

describe('an evaluation', () => {
  it('gives the wanted rules, sets as sorted arrays, and leaves undefined ones out', async () => {
    const body = 'deny contains x if some x in input.names\nflag := 3\nwarn := 1 if input.warns';
    const input = '{"names": ["b", "a", "b"]}';
    const evaluation = await world.evaluate(body, { input, rules: ['deny', 'warn', 'flag', 'missing'] });

    expect(valuesOf(evaluation)).toEqual({ deny: ['a', 'b'], flag: 3 });
    expect(evaluation.durationMs).toBeGreaterThan(0);
  });

  it('reads Rego v0 where the policy is written in it', async () => {
    const body = 'package slipway\ndeny[msg] { msg := input.names[_] }\nallow { input.names }';
    const request = { source: { body, regoVersion: 0 as const }, input: '{"names":["b","a"]}' };
    const inV0 = await world.evaluate('', { ...request, rules: ['deny', 'allow', 'warn'] });
    const inV1 = await world.evaluate('', { ...request, source: { body, regoVersion: 1 } });

    expect(valuesOf(inV0)).toEqual({ deny: ['a', 'b'], allow: true });
    expect(failureOf(inV1)).toMatchObject({ code: 'compile', line: 2, column: 1 });
  });

  it('evaluates nothing that is not wanted', async () => {
    const body = 'deny contains "d" if used\nused if input.on\nother := to_number("abc")';
    const request = { input: '{"on": true}' };

    expect(valuesOf(await world.evaluate(body, request))).toEqual({ deny: ['d'] });
    expect(failureOf(await world.evaluate(body, { ...request, rules: ['other'] }))).toEqual({
      code: 'builtin',
      message: expect.stringContaining('to_number'),
      ...{ line: 4, column: 10 },
    });
  });

  it('says undefined, not true, of a negation whose argument is missing', async () => {
    const body = 'deny contains "x" if not startswith(input.missing, "x")';

    expect(valuesOf(await world.evaluate(body))).toEqual({ deny: [] });
  });

  it('keeps integers above 2^53 in messages; as values they lose their last digits', async () => {
    const body =
      'deny contains sprintf("%d", [input.n])\nflag := input.n\nwarn if input.n == 9007199254740993';
    const evaluation = await world.evaluate(body, {
      ...{ input: '{"n": 9007199254740993}', rules: ['deny', 'flag', 'warn'] },
    });

    expect(valuesOf(evaluation)).toEqual({ deny: ['9007199254740993'], flag: 2 ** 53, warn: true });
  });

  it('takes what is printed for what it is: nothing', async () => {
    const body = 'deny contains "x" if { print("hello", input); true }';

    expect(valuesOf(await world.evaluate(body))).toEqual({ deny: ['x'] });
  });

  it('leaves nothing behind, and sweeps what a former life left', async () => {
    await world.evaluate('deny contains "x"');
    await world.evaluate('deny {{{');
    expect(readdirSync(world.directory)).toEqual([]);

    mkdirSync(join(world.directory, 'run-old/files'), { recursive: true });
    writeFileSync(join(world.directory, 'run-old/files/input.json'), '{}');
    await world.opa.sweep();

    expect(readdirSync(world.directory)).toEqual([]);
  });
});

const pairs = 'some a in numbers.range(1, 20000); some b in numbers.range(1, 20000)';

describe('a failure is named, with its place in the source', () => {
  it.each([
    ['http.send', 'deny contains http.send({"method": "get", "url": "http://127.0.0.1"}).status'],
    ['net.lookup_ip_addr', 'deny contains net.lookup_ip_addr("localhost")'],
    ['time.now_ns', 'deny contains time.now_ns()'],
    // By the clock, it depends on the day whether a certificate is valid.
    [
      'crypto.x509.parse_and_verify_certificates',
      'deny contains crypto.x509.parse_and_verify_certificates(input.chain)',
    ],
    [
      'crypto.x509.parse_and_verify_certificates_with_options',
      'deny contains crypto.x509.parse_and_verify_certificates_with_options(input.chain, {})',
    ],
    ['rand.intn', 'deny contains rand.intn("a", 10)'],
    ['uuid.rfc4122', 'deny contains uuid.rfc4122("a")'],
    ['opa.runtime', 'deny contains opa.runtime().env'],
    ['rego.parse_module', 'deny contains rego.parse_module("a", "b")'],
    ['trace', 'deny contains "x" if trace("x")'],
  ])('%s is no function here', async (name, body) => {
    const wanted = { message: `undefined function ${name}`, line: 2, column: expect.any(Number) };

    expect(failureOf(await world.evaluate(body))).toEqual({ code: 'compile', ...wanted });
    expect(await world.check(body)).toEqual({ kind: 'invalid', errors: [wanted] });
  });

  it.each([
    ['a builtin that fails', '\ndeny contains to_number("abc")', { code: 'builtin', line: 3 }],
    ['two values', 'deny := 1 if true\ndeny := 2 if true', { code: 'conflict', line: 3 }],
    ['an unsafe variable', 'deny contains x', { code: 'compile', line: 2 }],
    ['recursion', 'deny := x if x := deny', { code: 'compile', line: 2 }],
    ['brackets', `deny := ${'['.repeat(30_000)}`, { code: 'compile' }],
  ])('%s', async (_, body, wanted) => {
    expect(failureOf(await world.evaluate(body))).toMatchObject(wanted);
  });

  it('400 million pairs take too long', async () => {
    const body = `deny contains "x" if { ${pairs}; a * b == -1 }`;
    const evaluation = await world.evaluate(body, { timeLimitMs: 1000 });

    expect(failureOf(evaluation)).toMatchObject({
      ...{ code: 'timeout', message: 'the policy took longer than 1 s', line: 2 },
    });
    expect(evaluation.durationMs).toBeLessThan(15_000);
  });

  it('a bomb gets no more memory than it may have', async () => {
    const body =
      'deny contains x if { a := concat("", [y | some i in numbers.range(1, 60000000); y := "aaaa"]); x := a }';

    expect(failureOf(await world.evaluate(body, { timeLimitMs: 60_000 }))).toMatchObject({ code: 'memory' });
  });

  it('an answer has its limit', async () => {
    const body =
      'line := concat("", [x | some i in numbers.range(1, 1000); x := sprintf("%010d", [i])])\ndeny contains x if { some i in numbers.range(1, 1000); x := sprintf("%d %s", [i, line]) }';

    expect(failureOf(await world.evaluate(body))).toMatchObject({ code: 'output' });
  });

  it('a value that is nested too deeply is none', async () => {
    const body =
      'deny := json.unmarshal(concat("", [concat("", ["[" | some _ in numbers.range(1, 5000)]), concat("", ["]" | some _ in numbers.range(1, 5000)])]))';

    expect(failureOf(await world.evaluate(body))).toMatchObject({ code: 'output' });
  });

  it.each([
    ['not UTF-8', Buffer.from('{"a":"\xff"}', 'latin1'), 'the input is not UTF-8'],
    ['half a character', '{"a":"\ud800"}', 'the input is not UTF-8'],
    ['cut off', '{"a":', 'the input is not JSON'],
    ['YAML', 'a: 1', 'the input is not JSON'],
    ['YAML in braces', '{a: 1}', 'the input is not JSON'],
    ['two values', '{} {}', 'the input is not JSON'],
    ['nothing', '', 'the input is not JSON'],
    ['blanks', ' \n ', 'the input is not JSON'],
    ['too large', Buffer.alloc(64 * 1024 * 1024 + 1, 0x20), /^the input has 67108865 bytes/],
  ])('input that is %s', async (_, input, message) => {
    const failure = failureOf(await world.evaluate('deny contains "x"', { input }));

    expect(failure).toEqual({
      ...{ code: 'input', message: message instanceof RegExp ? expect.stringMatching(message) : message },
    });
  });

  it('is stopped when it is asked to', async () => {
    const stop = new AbortController();
    const body = `deny contains "x" if { ${pairs}; a * b == -1 }`;
    const evaluation = world.evaluate(body, { timeLimitMs: 60_000, signal: stop.signal });
    stop.abort();

    expect(failureOf(await evaluation)).toMatchObject({ code: 'stopped' });
  });

  it.each([null, '/nowhere/opa', '/bin/true'])('an engine at %s is none', async (path) => {
    const opa = createOpa({ path, sandbox: world.sandbox, directory: world.directory });
    const source = { body: 'package slipway\ndeny contains "x"', regoVersion: 1 } as const;
    const wanted =
      path === null ? /^policy engine not installed: .* OPA_PATH, .* --with opa\)$/ : /^opa cannot be used: /;
    const evaluation = await opa.evaluate({ source, input: '{}', rules: ['deny'], timeLimitMs: 5000 });

    expect(failureOf(evaluation)).toEqual({ code: 'unavailable', message: expect.stringMatching(wanted) });
    expect(await opa.check(source)).toEqual({ kind: 'unavailable', reason: expect.stringMatching(wanted) });
    expect(await opa.standing()).toMatchObject({ kind: 'unavailable' });
  });
});

it('has no data but the package itself', async () => {
  const body =
    'import data.other\nimport data.capabilities\nwarn if other\nwarn if capabilities\nflag := input';
  const evaluation = await world.evaluate(body, { input: '5', rules: ['warn', 'flag'] });

  expect(valuesOf(evaluation)).toEqual({ flag: 5 });
});

it('works without a sandbox, too', async () => {
  using bare = await anOpaWorld('none');

  expect(valuesOf(await bare.evaluate('deny contains input.x', { input: '{"x":"y"}' }))).toEqual({
    deny: ['y'],
  });
  expect(failureOf(await bare.evaluate('deny contains time.now_ns()'))).toMatchObject({
    code: 'compile',
    line: 2,
  });
  expect(readdirSync(bare.directory)).toEqual([]);
});

it('never rejects, whatever text it is given', async () => {
  const words = fc.constantFrom(
    'deny',
    'contains',
    'if',
    '{',
    '}',
    'input',
    ':=',
    '"',
    '\n',
    '[',
    '\0',
    '%s',
    '_',
  );
  const bodies = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(words).map((parts) => parts.join(' ')),
  );
  await fc.assert(
    fc.asyncProperty(bodies, fc.oneof(fc.json(), fc.string({ unit: 'binary' })), async (body, input) => {
      const checked = await world.check(body);
      const evaluation = await world.evaluate(body, { input });

      expect(['valid', 'invalid']).toContain(checked.kind);
      expect(evaluation).not.toMatchObject({ failure: { code: 'engine' } });
    }),
    { numRuns: 15 },
  );
});
