import { expect, test } from 'vitest';
import { originOfRequest } from '../../src/access/origin.ts';

const request = (headers: Record<string, string> = {}) => new Request('http://slipway.test/', { headers });

test('a call comes from the other end of its connection', () => {
  expect(originOfRequest(request(), '203.0.113.7')).toEqual({
    ...{ via: 'api', address: '203.0.113.7', forwardedFor: null },
  });
  expect(originOfRequest(request(), null).address).toBeNull();
});

test.each([
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::ffff:c000:201', '::ffff:c000:201'],
  ['2001:db8::1', '2001:db8::1'],
])('%s is told as %s', (seen, told) => {
  expect(originOfRequest(request(), seen).address).toBe(told);
});

test('what a proxy claims stands beside it, cut, and takes its place never', () => {
  const claimed = `198.51.100.9, ${'x'.repeat(300)}`;
  const origin = originOfRequest(request({ 'x-forwarded-for': claimed }), '127.0.0.1');
  expect(origin.address).toBe('127.0.0.1');
  expect(origin.forwardedFor).toBe(claimed.slice(0, 200));
});
