import { expect, test } from 'vitest';
import { createOperations } from '../../src/web/operations.ts';

const operations = createOperations({
  paths: {
    '/things/{thing}': {
      get: { 'x-needs': 'reader', parameters: [{ in: 'query', name: 'limit' }] },
      delete: { 'x-needs': 'admin' },
    },
    '/things/{thing}/parts/{part}': { put: { parameters: [{ in: 'header', name: 'if-match' }] } },
    '/things/{thing}/parts/old': { put: {} },
  },
});

test('finds the operation that a request asks for', () => {
  expect(operations.find('DELETE', '/things/a%2Fb')).toMatchObject({
    ...{ name: 'DELETE /things/{thing}', needs: 'admin', params: { thing: 'a/b' } },
  });
  expect(operations.find('PUT', '/things/a/parts/b')?.params).toEqual({ thing: 'a', part: 'b' });
  // What the router takes for the more particular one is that here, too.
  expect(operations.find('PUT', '/things/a/parts/old')?.name).toBe('PUT /things/{thing}/parts/old');
  expect(operations.find('GET', '/things/%zz')?.params).toEqual({ thing: '%zz' });
});

test('takes HEAD for GET, as the router does', () => {
  expect(operations.find('HEAD', '/things/a')).toMatchObject({
    name: 'GET /things/{thing}',
    needs: 'reader',
  });
});

test.each([
  ['POST', '/things/a'],
  ['GET', '/things'],
  ['GET', '/things/'],
  ['GET', '/things/a/'],
  ['GET', '/things/a/b'],
])('knows no %s %s', (method, path) => {
  expect(operations.find(method, path)).toBeNull();
});

test('knows the methods of a path, and what an operation takes', () => {
  expect(operations.methodsOf('/things/a').toSorted()).toEqual(['DELETE', 'GET']);
  expect(operations.methodsOf('/things/a/parts/old')).toEqual(['PUT']);
  expect(operations.methodsOf('/else')).toEqual([]);
  const show = operations.find('GET', '/things/a');
  expect([
    show?.takes('query', 'limit'),
    show?.takes('query', 'Limit'),
    show?.takes('header', 'limit'),
  ]).toEqual([true, false, false]);
  expect(operations.find('PUT', '/things/a/parts/b')?.takes('header', 'if-match')).toBe(true);
});
