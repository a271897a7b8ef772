import { expect, it } from 'vitest';
import { hideSecrets } from '../../src/worker/redaction.ts';

it('hides secrets in text that is stored beside the output, also inside JSON', () => {
  const secret = 'corr"ect\nhorse';
  const steps = JSON.stringify([{ new: { inputs: { password: secret, size: 3 } } }]);

  expect(hideSecrets([secret], `echo '${secret}'`)).toBe("echo '***'");
  expect(JSON.parse(hideSecrets([secret], steps))).toEqual([
    { new: { inputs: { password: '***', size: 3 } } },
  ]);
  expect(hideSecrets([], 'nothing to hide')).toBe('nothing to hide');
});
