import { expect, test } from 'vitest';
import { createEventStreams } from '../../src/web/api/event-streams.ts';
import { followed } from './followed.ts';
import { anInstallation, untilUnconfirmed } from './installation.ts';

async function withRun() {
  const installation = anInstallation();
  const run = await installation.addRun(await installation.addStack());
  const token = await installation.token('reader');
  const follow = (query = '', heads: Record<string, string> = {}) =>
    followed(installation, `/api/v1/runs/${run.id}/states/stream${query}`, token, heads);
  const close = () => installation[Symbol.asyncDispose]();
  return { ...{ installation, run, follow }, [Symbol.asyncDispose]: close };
}

test('states come as they happen, and an end', async () => {
  await using fixture = await withRun();
  const { response, next } = await fixture.follow();

  expect(response.headers.get('content-type')).toBe('text/event-stream');
  expect(response.headers.get('x-accel-buffering')).toBe('no');
  expect(await next()).toMatchObject({ id: '1', event: 'state', data: { state: 'QUEUED', actor: 'ada' } });
  expect(await next()).toMatchObject({ id: '2', data: { state: 'READY', stateVersion: 2 } });
  await fixture.installation.move(fixture.run, { kind: 'claim' });
  expect(await next()).toMatchObject({
    id: '3',
    data: { state: 'PREPARING', timestamp: expect.any(Number) },
  });
  await fixture.installation.move(fixture.run, { kind: 'stop' });
  expect(await next()).toMatchObject({ id: '4', data: { state: 'STOPPED' } });
  expect(await next()).toEqual({ id: undefined, event: 'end', data: { state: 'STOPPED' } });
  expect(await next()).toBeNull();
});

test.each<[string, Record<string, string>, string]>([
  ['?after=4', {}, '5'],
  ['', { 'last-event-id': '5' }, '6'],
  // A browser that comes back sends both.
  ['?after=1', { 'last-event-id': '5' }, '6'],
])('it begins behind a version: %s %j', async (query, heads, id) => {
  await using fixture = await withRun();
  await fixture.installation.move(fixture.run, ...untilUnconfirmed);

  const { next } = await fixture.follow(query, heads);

  expect(await next()).toMatchObject({ id });
});

test('nothing is left out for who has seen more than there is', async () => {
  await using fixture = await withRun();
  const { next } = await fixture.follow('?after=99');

  await fixture.installation.move(fixture.run, { kind: 'claim' });

  expect(await next()).toMatchObject({ id: '3' });
});

test('who has seen the end is told only that it is over', async () => {
  await using fixture = await withRun();
  const over = await fixture.installation.move(fixture.run, { kind: 'cancel' });

  const { next } = await fixture.follow('', { 'last-event-id': String(over.stateVersion) });

  expect(await next()).toMatchObject({ event: 'end', data: { state: 'CANCELED' } });
  expect(await next()).toBeNull();
});

test.each(['?after=x', '?after=-1'])('%s is refused', async (query) => {
  await using fixture = await withRun();

  expect((await fixture.follow(query)).response.status).toBe(422);
});

test('whoever loses the right to read gets no more', async () => {
  let isAllowed = true;
  const limits = { pollMs: 1, lifetimeMs: 60_000, maxOpen: 1, maxOpenOfOne: 1, askMs: 2, silenceMs: 1000 };
  const streams = createEventStreams(limits);
  const asked: boolean[] = [];
  const stream = streams.open({
    reader: 'person:ada',
    next: async () => null,
    isAllowed: async () => {
      asked.push(isAllowed);
      // Still at the first time, not any more at the second.
      if (asked.length === 1) {
        isAllowed = false;
        return true;
      }
      return isAllowed;
    },
  });

  expect(await new Response(stream).text()).toBe('retry: 1000\n\n');
  expect(asked).toEqual([true, false]);
  // Its place is free again.
  expect(
    streams.open({ reader: 'person:ada', next: async () => null, isAllowed: async () => true }),
  ).not.toBeNull();
  streams.endAll();
});

test('a stream that is never silent ends, too, for whoever loses the right', async () => {
  const streams = createEventStreams({
    ...{ pollMs: 1, lifetimeMs: 60_000, maxOpen: 1, maxOpenOfOne: 1, askMs: 5, silenceMs: 1000 },
  });
  const stream = streams.open({
    reader: 'person:ada',
    next: async () => ({ event: 'log', data: {}, isLast: false }),
    isAllowed: async () => false,
  });

  expect(await new Response(stream).text()).toContain('event: log');
});

test('nobody takes the places of all others', async () => {
  const streams = createEventStreams({
    ...{ pollMs: 1, lifetimeMs: 60_000, maxOpen: 3, maxOpenOfOne: 2, askMs: 60_000, silenceMs: 1000 },
  });
  const open = (reader: string) =>
    streams.open({ reader, next: async () => null, isAllowed: async () => true });

  expect(['eve', 'eve', 'eve', 'ada', 'bob'].map((reader) => open(reader) !== null)).toEqual([
    ...[true, true, false],
    ...[true, false],
  ]);
  streams.endAll();
});

test('a token that is revoked gets no more', async () => {
  await using fixture = await withRun();
  const { installation, run } = fixture;
  const { id, token } = await installation.tokens.create(
    { name: 'ci', role: 'reader', account: null },
    { kind: 'operator' },
  );
  const { next } = await followed(installation, `/api/v1/runs/${run.id}/states/stream?after=2`, token);
  const waiting = next();

  await installation.tokens.revoke(id);

  expect(await waiting).toBeNull();
});

test('a silent stream says now and then that it is there', async () => {
  const streams = createEventStreams({
    ...{ pollMs: 1, lifetimeMs: 60_000, maxOpen: 1, maxOpenOfOne: 1, askMs: 60_000, silenceMs: 3 },
  });
  let asked = 0;
  const stream = streams.open({
    reader: 'person:ada',
    next: async () => (++asked > 7 ? { event: 'end', data: {}, isLast: true } : null),
    isAllowed: async () => true,
  });

  const text = await new Response(stream).text();

  expect(text).toBe('retry: 1000\n\n: still here\n\n: still here\n\nevent: end\ndata: {}\n\n');
});

test('a stream ends when its run is removed with the stack', async () => {
  await using fixture = await withRun();
  const { installation, run } = fixture;
  const token = await installation.token('reader', 'acme');
  const { next } = await followed(installation, `/api/v1/runs/${run.id}/states/stream?after=2`, token);
  const waiting = next();

  await installation.database.write((tx) => installation.stackStore.remove(tx, run.stackKey));

  expect(await waiting).toBeNull();
});
