import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkSource } from '../../src/policies/check-source.ts';
import type { RegoVersion } from '../../src/policies/policy.ts';
import { anOpaWorld, type OpaWorld } from './opa-world.ts';

let world: OpaWorld;
beforeAll(async () => {
  world = await anOpaWorld();
});
afterAll(() => world[Symbol.dispose]());

it('tells the rules with their lines and what their values are bound to be; functions are none', async () => {
  const checked = await world.check(`deny contains msg if { msg := "x" }
default track := false
track if input.x
lock := "a" if input.y
roles[x] contains "a" if some x in input.z
team.lead := 1
warn[msg] if { msg := "a" }
cancel := {x | some x in input.q}
unlock := concat("", ["a"])
double(x) := x + x
flag := 1 if input.a
flag := "1" if input.b`);

  expect(checked).toEqual({
    ...{ kind: 'valid', package: 'slipway' },
    rules: [
      { name: 'deny', line: 2, type: 'set' },
      { name: 'track', line: 3, type: 'boolean' },
      { name: 'lock', line: 5, type: 'string' },
      { name: 'roles', line: 6, type: 'object' },
      { name: 'team', line: 7, type: 'object' },
      { name: 'warn', line: 8, type: 'object' },
      { name: 'cancel', line: 9, type: 'set' },
      { name: 'unlock', line: 10, type: 'unknown' },
      { name: 'flag', line: 12, type: 'unknown' },
    ],
  });
});

it('knows the sets of Rego v0', async () => {
  expect(await world.check('deny[msg] { msg := "x" }\nroles[x] = {"a"} { x := input.y }', 0)).toMatchObject({
    rules: [
      { name: 'deny', type: 'set' },
      { name: 'roles', type: 'object' },
    ],
  });
});

it('tells every error with its place', async () => {
  expect(await world.check('deny contains "x" if { y := 1; true }\nwarn contains time.now_ns()')).toEqual({
    kind: 'invalid',
    errors: [
      { message: 'assigned var y unused', line: 2, column: 24 },
      { message: 'undefined function time.now_ns', line: 3, column: 15 },
    ],
  });
});

it.each([
  ['a shadowed input', 'deny contains "x" if { input := 1; input == 1 }', 2],
  ['half a rule', 'deny {', 2],
  ['a rule without if', 'deny contains "x" { true }', 2],
  ['an unused variable', 'deny contains "x" if {\n  y := 1\n}', 3],
  ['a second package', 'package other', 2],
  // opa names the package, and says the lines in its message.
  ['two defaults', 'default track := true\ndefault track := false', 1],
])('refuses %s', async (_, body, line) => {
  const checked = await world.check(body);

  expect(checked).toMatchObject({
    kind: 'invalid',
    errors: expect.arrayContaining([expect.objectContaining({ line })]),
  });
});

it('takes the largest body, and refuses one that is nested without end', async () => {
  const rule =
    'deny contains "a rule of some length, with words in it" if input.some.field == "some value"\n';
  const count = Math.floor((64 * 1024 - 20) / rule.length);
  const source = (body: string, regoVersion: RegoVersion = 1) => ({ body, regoVersion });

  expect(
    await checkSource(world.opa, 'PLAN', source(`package slipway\n${rule.repeat(count)}`)),
  ).toMatchObject({ kind: 'valid', rules: ['deny'] });
  const nested = `package slipway\ndeny := ${'['.repeat(30_000)}${']'.repeat(30_000)}`;
  expect(await checkSource(world.opa, 'PLAN', source(nested))).toMatchObject({ kind: 'invalid' });
});

it('reports another package as it is written', async () => {
  const source = { body: 'package spacelift.plan\ndeny contains "x"', regoVersion: 1 } as const;

  expect(await world.opa.check(source)).toMatchObject({ kind: 'valid', package: 'spacelift.plan' });
  expect(await checkSource(world.opa, 'PLAN', source)).toMatchObject({
    kind: 'invalid',
    errors: [{ line: 1 }],
  });
});
