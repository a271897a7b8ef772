import { describe, expect, test } from 'vitest';
import { foldSecrets } from '../../../src/vendors/pulumi/secrets.ts';
import { fc } from '../../support/fast-check.ts';

const secret = {
  '4dabf18193072939515e22adb298388d': '1b47061264138c4ac30d75fd1eb44270',
  ciphertext: '[secret]',
};

describe('folding secrets', () => {
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      fc.string(),
      fc.integer(),
      fc.constant(null),
      tie('list'),
      tie('map'),
      tie('secret'),
    ),
    list: fc.array(tie('any'), { maxLength: 4 }),
    map: fc.dictionary(fc.string(), tie('any'), { maxKeys: 4 }),
    secret: tie('any').map((ciphertext) => ({ ...secret, ciphertext })),
  })).any;

  test('leaves no secret and changes nothing else', () => {
    fc.assert(
      fc.property(value, (given) => {
        const folded = foldSecrets(given);
        expect(JSON.stringify(folded)).not.toContain('1b47061264138c4ac30d75fd1eb44270');
        const byText = JSON.parse(JSON.stringify(given), (_, item: unknown) =>
          typeof item === 'object' && item !== null && 'ciphertext' in item ? '[secret]' : item,
        );
        expect(JSON.stringify(folded)).toBe(JSON.stringify(byText));
      }),
    );
  });

  test('leaves other tagged values as they are', () => {
    const asset = { '4dabf18193072939515e22adb298388d': 'c44067f5952c0a294b673a41bacd8c17', hash: 'abc' };
    expect(foldSecrets({ asset })).toEqual({ asset });
    const unknown = '04da6b54-80e4-46f7-96ec-b56ff0331ba9';
    expect(foldSecrets([unknown])).toEqual([unknown]);
  });

  test('also hides a secret output value', () => {
    const output = {
      '4dabf18193072939515e22adb298388d': 'd0e6a833031e9bbcd3f4e8bde6ca49a4',
      secret: true,
      value: 'x',
    };
    expect(foldSecrets({ output })).toEqual({ output: '[secret]' });
  });
});
