import { describe, expect, it, test } from 'vitest';
import { propertyViews } from '../../../src/runs/plan/property-view.ts';
import { fc } from '../../support/fast-check.ts';
import { unknown } from './plan-steps.ts';

const views = (old: unknown, now: unknown) => propertyViews(old, now).items;
const tag = '4dabf18193072939515e22adb298388d';

describe('properties that change', () => {
  test.each<[string, unknown, unknown, unknown[]]>([
    ['by path', { a: { b: [1, 2] } }, { a: { b: [1, 3] } }, [{ path: 'a.b[1]', old: 2, new: 3 }]],
    [
      'leaf by leaf where one side has none',
      {},
      { tags: { env: 'prod', 'a.b': 1 }, none: {} },
      [
        { path: 'tags.env', new: 'prod' },
        { path: 'tags."a.b"', new: 1 },
        { path: 'none', new: {} },
      ],
    ],
    ['where they go', { a: [{ b: null }] }, {}, [{ path: 'a[0].b', old: null }]],
    ['as secrets', { key: '[secret]' }, { key: 'x' }, [{ path: 'key', old: '[secret]', new: 'x' }]],
    ['known later', { arn: 'a' }, { arn: unknown }, [{ path: 'arn', old: 'a', isUnknown: true }]],
    [
      'known later, as the tool tags it',
      {},
      { list: [{ [tag]: 'd0e6a833031e9bbcd3f4e8bde6ca49a4' }] },
      [{ path: 'list[0]', isUnknown: true }],
    ],
    [
      'without the tags of the tool',
      {},
      { file: { [tag]: 'c44067f5952c0a294b673a41bacd8c17', hash: 'abc', path: 'x.zip' } },
      [
        { path: 'file.hash', new: 'abc' },
        { path: 'file.path', new: 'x.zip' },
      ],
    ],
    ['between a list and an object', { a: [1] }, { a: { b: 1 } }, [{ path: 'a', old: [1], new: { b: 1 } }]],
  ])('%s', (_, old, now, expected) => {
    expect(views(old, now)).toEqual(expected);
  });

  it('as long texts are shown line by line', () => {
    expect(views({ script: 'one\ntwo' }, { script: 'one\n2' })).toEqual([
      {
        path: 'script',
        lines: [
          { kind: 'same', text: 'one' },
          { kind: 'removed', text: 'two' },
          { kind: 'added', text: '2' },
        ],
      },
    ]);
  });

  it('as JSON in one line is shown in many', () => {
    const policy = (effect: string) =>
      JSON.stringify({
        Version: '2012-10-17',
        Statement: [{ Effect: effect, Action: 's3:*', Resource: ['*'] }],
      });

    const [view] = views({ policy: policy('Allow') }, { policy: policy('Deny') });

    expect(view?.lines?.filter(({ kind }) => kind !== 'same' && kind !== 'gap')).toEqual([
      { kind: 'removed', text: '      "Effect": "Allow",' },
      { kind: 'added', text: '      "Effect": "Deny",' },
    ]);
  });

  it('without end are cut, and that is said', () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`p${index}`, index]));
    expect(propertyViews({}, many)).toMatchObject({ isCut: true, items: { length: 200 } });
    expect(propertyViews({}, { text: 'x'.repeat(100_000) }).items[0]?.lines).toEqual([
      { kind: 'added', text: `${'x'.repeat(400)}…` },
    ]);
    const long = propertyViews({}, { text: 'x\n'.repeat(100_000) }).items[0];
    expect([long?.lines?.length, long?.isCut]).toEqual([200, true]);
  });

  it('are none where nothing differs, and as many backwards', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue({ maxDepth: 4 }), (one, other) => {
        expect(views(one, structuredClone(one))).toEqual([]);
        const paths = (all: ReturnType<typeof views>) => all.map(({ path }) => path).sort();
        expect(paths(views(one, other))).toEqual(paths(views(other, one)));
      }),
    );
  });
});
