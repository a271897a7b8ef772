import { describe, expect, test } from 'vitest';
import { secretText } from '../../../src/runs/plan/plan-value.ts';
import {
  hidesAnything,
  maskValue,
  TooDeepError,
  unionOfMasks,
} from '../../../src/vendors/terraform/masks.ts';
import {
  createHider,
  createSensitiveValues,
  hideIn,
} from '../../../src/vendors/terraform/sensitive-values.ts';
import { fc } from '../../support/fast-check.ts';

const keys = fc.oneof(fc.constantFrom('__proto__', 'constructor', 'toString', 'a', '0', ''), fc.string());
const tree = (leaf: fc.Arbitrary<unknown>) =>
  fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie('value'), { maxLength: 4 }),
      fc
        .uniqueArray(fc.tuple(keys, tie('value')), { maxLength: 4, selector: ([key]) => key })
        .map(Object.fromEntries),
    ),
  })).value;
const values = tree(fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)));
const masks = tree(fc.boolean());

/** What a mask says of every leaf, in another way than the code does it. */
function leaves(
  value: unknown,
  mask: unknown,
  path: readonly string[] = [],
): { path: string; leaf: unknown; hidden: boolean }[] {
  const hasSameShape = typeof mask === 'object' && Array.isArray(mask) === Array.isArray(value);
  const within = (key: string): unknown => {
    if (!hasSameShape || mask === null) return hidesAnything(mask);
    return Object.hasOwn(mask, key) ? (mask as Record<string, unknown>)[key] : false;
  };
  if (typeof value !== 'object' || value === null) {
    return [{ path: JSON.stringify(path), leaf: value, hidden: hidesAnything(mask) }];
  }
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, within(key), [...path, key]));
}

describe('a mask', () => {
  test('leaves nothing of what it hides, and everything else as it is', () => {
    fc.assert(
      fc.property(values, masks, (value, mask) => {
        const shown = new Map(
          leaves(
            maskValue(value, mask, () => {}),
            false,
          ).map(({ path, leaf }) => [path, leaf]),
        );
        for (const { path, leaf, hidden } of leaves(value, mask)) {
          // A whole list or object under a mask is one text.
          if (hidden && leaf !== null) expect(shown.get(path)).toBeOneOf([undefined, secretText]);
          if (!hidden) expect(shown.get(path)).toBe(leaf);
        }
      }),
    );
  });

  test('of nothing changes nothing, of everything leaves one text', () => {
    fc.assert(
      fc.property(values, (value) => {
        for (const mask of [false, undefined, null, {}, []])
          expect(maskValue(value, mask, () => {})).toEqual(value);
        expect(maskValue(value, true, () => {})).toBe(value === null ? null : secretText);
      }),
    );
  });

  test('gives every value that goes', () => {
    const gone: unknown[] = [];
    maskValue({ a: 'one', b: ['two', 3], c: null }, { a: true, b: [true, false], c: true }, (value) =>
      gone.push(value),
    );
    expect(gone).toEqual(['one', 'two']);
  });

  test('that does not have the shape of the value hides it all when it hides anything', () => {
    for (const [value, mask] of [
      ['text', { a: true }],
      [['a'], { a: true }],
      [{ a: 1 }, [true]],
      [7, [[{ a: true }]]],
    ]) {
      expect(maskValue(value, mask, () => {})).toBe(secretText);
    }
    expect(maskValue('text', { a: false }, () => {})).toBe('text');
  });

  test('looks at keys of the value itself only', () => {
    const value = JSON.parse('{"__proto__": "one", "constructor": "two", "a": "three"}');
    const masked = maskValue(value, JSON.parse('{"__proto__": true}'), () => {});
    expect(JSON.stringify(masked)).toBe('{"__proto__":"[secret]","constructor":"two","a":"three"}');
    expect(Object.getPrototypeOf(masked)).toBe(Object.prototype);
  });

  test('is refused beyond any depth that a plan can have', () => {
    const deep = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`);
    expect(() => maskValue(deep, deep, () => {})).toThrow(TooDeepError);
    expect(() => hideIn(deep, (text) => text)).toThrow(TooDeepError);
  });

  test('and another together hide what either hides', () => {
    fc.assert(
      fc.property(values, masks, masks, (value, one, other) => {
        const both = leaves(
          maskValue(value, unionOfMasks(one, other), () => {}),
          false,
        );
        const hidden = new Set(
          [one, other].flatMap((mask) =>
            leaves(value, mask)
              .filter((leaf) => leaf.hidden && leaf.leaf !== null)
              .map(({ path }) => path),
          ),
        );
        for (const { path, leaf } of both) if (hidden.has(path)) expect(leaf).toBe(secretText);
      }),
    );
  });
});

describe('known secrets', () => {
  const listOf = (...secrets: unknown[]) => {
    const known = createSensitiveValues();
    for (const secret of secrets) known.add(secret);
    return known.list();
  };

  test('are texts of four characters or more, each once', () => {
    expect(listOf('abc', 'four', 'longer', 'four', 1234, true, null, ['inner'])).toEqual([
      'four',
      'inner',
      'longer',
      '["inner"]',
    ]);
  });

  test('are numbers, too, that are longer than those of ports', () => {
    expect(listOf({ pin: 48151623, port: 65535 })).toEqual(['48151623', '{"pin":48151623,"port":65535}']);
    expect(hideIn({ a: 48151623, b: 5432, c: 'is 48151623' }, createHider(['48151623', '5432']))).toEqual({
      ...{ a: secretText, b: 5432, c: `is ${secretText}` },
    });
  });

  test('are found in JSON inside of a text, as either tool writes it, and line by line', () => {
    const secret = 'a"b<c>&d';
    const hide = createHider([secret, 'first line of it\nand the second']);
    expect(hide(JSON.stringify({ k: secret }))).toBe('{"k":"[secret]"}');
    expect(hide('{"k":"a\\"b\\u003cc\\u003e\\u0026d"}')).toBe('{"k":"[secret]"}');
    expect(hide('  and the second')).toBe('  [secret]');
  });

  test('are, of an object, its texts and all of it as JSON', () => {
    expect(listOf({ user: 'root', password: 'hunter2' })).toEqual([
      'root',
      'hunter2',
      '{"user":"root","password":"hunter2"}',
    ]);
  });

  test('are bounded, in number and in bytes, and then the shortest stay', () => {
    const many = Array.from({ length: 3000 }, (_, index) => `secret-${'x'.repeat(index % 7)}${index}`);
    expect(listOf(...many)).toHaveLength(2000);
    expect(Math.max(...listOf(...many).map(({ length }) => length))).toBeLessThan(16);
    const large = Array.from({ length: 20 }, (_, index) => `${index}`.padEnd(100_000, 'ü'));
    expect(Buffer.byteLength(listOf(...large).join(''))).toBeLessThanOrEqual(256 * 1024);
    expect(listOf('x'.repeat(2_000_000), 'short')).toEqual(['short']);
  });

  test('go from every text, keys too, wherever they stand', () => {
    const hide = createHider(['hunter2', 'ünïcode→']);
    const value = { 'key-hunter2': ['a hunter2 b hunter2', 'ünïcode→', 7, null], ['__proto__']: 'hunter2' };
    expect(JSON.stringify(hideIn(value, hide))).toBe(
      '{"key-[secret]":["a [secret] b [secret]","[secret]",7,null],"__proto__":"[secret]"}',
    );
    expect(createHider(['abcd', 'cdef'])('xabcdefx')).toBe('x[secret]x');
    expect(createHider([])('hunter2')).toBe('hunter2');
  });

  test('never stay in a text, and what is none stays', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 4 }), { minLength: 1 }),
        fc.array(fc.string()),
        (secrets, others) => {
          const hide = createHider(secrets);
          const text = secrets.flatMap((secret, index) => [others[index] ?? '', secret]).join(' ');
          const bytes = (string: string) => Buffer.from(string).toString();
          for (const secret of secrets) {
            if (!secretText.includes(secret))
              expect(hide(text).split(secretText).join('\n')).not.toContain(bytes(secret));
          }
          const free = others.filter((other) =>
            secrets.every((secret) => !bytes(other).includes(bytes(secret))),
          );
          for (const other of free) expect(hide(other)).toBe(other);
        },
      ),
    );
  });
});
