import { expect, it } from 'vitest';
import { createCaptureSink } from '../../src/worker/output-sinks.ts';

it('captures bytes as they are, up to a cap', () => {
  const sink = createCaptureSink(8);
  const chunk = Buffer.from([0, 255, 128, 10]);
  sink.write(chunk);
  // The caller may use it again.
  chunk.fill(7);
  sink.write(Buffer.from('abcd'));
  expect(sink.bytes()).toEqual(Buffer.from([0, 255, 128, 10, 97, 98, 99, 100]));

  sink.write(Buffer.from('e'));
  expect(sink.bytes()).toBeNull();
  expect(sink.tail()).toBe('');
});
