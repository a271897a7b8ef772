import { expect, it } from 'vitest';
import { createCutOff } from '../../src/worker/cut-off.ts';
import { fc } from '../support/fast-check.ts';

const marker = 'violates plan: properties changed:';

function run(markers: readonly string[], chunks: readonly string[]): string {
  const cutOff = createCutOff(markers);
  return chunks.map((chunk) => Buffer.from(cutOff(Buffer.from(chunk))).toString()).join('');
}

it('hides what follows a marker, however the stream is cut into chunks', () => {
  const text = `before ${marker} =~input[hunter2]\nnext line with hunter2\n`;
  fc.assert(
    fc.property(fc.array(fc.nat(text.length), { maxLength: 20 }), (cuts) => {
      const borders = [0, ...cuts.toSorted((a, b) => a - b), text.length];
      const chunks = borders.slice(1).map((end, index) => text.slice(borders[index], end));
      expect(run([marker], chunks)).toBe(
        `before ${marker} [values are hidden, with the rest of this output]\n`,
      );
    }),
  );
});

it('changes nothing without a marker', () => {
  expect(run([marker], ['violates plan: ', 'properties kept'])).toBe('violates plan: properties kept');
  expect(run([], [marker, 'x'])).toBe(`${marker}x`);
});
