import { describe, expect, it } from 'vitest';
import { createRetentionStore } from '../../src/storage/retention-store.ts';
import { wholeCharacters } from '../../src/web/api/run-log.ts';
import { appendLog } from '../support/append-log.ts';
import { followed } from './followed.ts';
import { anInstallation, apiRequest, call } from './installation.ts';

const text = (value: string) => Buffer.from(value);

async function withRun() {
  const installation = anInstallation();
  const run = await installation.addRun(await installation.addStack());
  const token = await installation.token('reader');
  const path = `/api/v1/runs/${run.id}/logs`;
  const write = (phase: 'preparing' | 'planning', value: string | Uint8Array) =>
    appendLog(installation.logs, run.id, phase, value);
  const read = (query = '') => call(installation, 'GET', `${path}${query}`, { token });

  const follow = (query = '', heads: Record<string, string> = {}) =>
    followed(installation, `${path}/stream${query}`, token, heads);
  const head = () => installation.web.fetch(apiRequest('HEAD', `${path}/stream`, { token }));
  const end = () => installation.move(run, { kind: 'cancel' });
  const close = () => installation[Symbol.asyncDispose]();
  return { ...{ installation, run, write, read, follow, head, end }, [Symbol.asyncDispose]: close };
}

describe('the log of a run', () => {
  it('is the phases in order, from an offset on', async () => {
    await using fixture = await withRun();
    await fixture.write('planning', 'zwei');
    await fixture.write('preparing', 'eins ');

    const all = await fixture.read();
    const later = await fixture.read('?offset=6');
    const phase = await fixture.read('?phase=planning&offset=1');
    const beyond = await fixture.read('?offset=99');

    expect(all.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect([all.text, all.headers.get('x-next-offset')]).toEqual(['eins zwei', '9']);
    expect(later.text).toBe('wei');
    expect([phase.text, phase.headers.get('x-next-offset')]).toEqual(['wei', '4']);
    expect([beyond.text, beyond.headers.get('x-next-offset')]).toEqual(['', '9']);
  });

  it('is given piece by piece', async () => {
    await using fixture = await withRun();
    await fixture.write('preparing', 'eins ');
    await fixture.write('planning', 'zwei');
    const pieces: string[] = [];

    for (let offset = '0', size = 4; pieces.length < 3; ) {
      const piece = await fixture.read(`?offset=${offset}&limit=${size}`);
      pieces.push(piece.text);
      offset = piece.headers.get('x-next-offset') ?? '';
    }

    expect(pieces).toEqual(['eins', ' zwe', 'i']);
    expect((await fixture.read('?phase=planning')).headers.get('content-disposition')).toBe(
      `inline; filename="${fixture.run.id}.planning.log"`,
    );
  });

  it('is given whole when it is large', async () => {
    await using fixture = await withRun();
    const large = 'line of output\n'.repeat(20_000);
    await fixture.write('preparing', large);
    await fixture.write('planning', large);

    const { text: all } = await fixture.read();

    expect(all === large + large).toBe(true);
  });

  it.each(['?phase=other', '?offset=-1', '?offset=x', '?limit=0', '/end?maxBytes=2000000'])(
    'is refused with %s',
    async (query) => {
      await using fixture = await withRun();

      expect((await fixture.read(query)).status).toBe(422);
    },
  );
});

describe('the end of a log', () => {
  const lines = (count: number) =>
    Array.from({ length: count }, (_, index) => `line ${index + 1} é\n`).join('');
  const endOf = async (fixture: Awaited<ReturnType<typeof withRun>>, maxBytes: number) =>
    (await fixture.read(`/end?maxBytes=${maxBytes}`)).body.items;

  it('is all of a short one', async () => {
    await using fixture = await withRun();
    await fixture.write('preparing', 'one\n');
    await fixture.write('planning', 'two\nthr');

    expect(await endOf(fixture, 1000)).toEqual([
      { phase: 'preparing', size: 4, offset: 0, line: 1, text: 'one\n' },
      { phase: 'planning', size: 7, offset: 0, line: 1, text: 'two\nthr' },
    ]);
  });

  it('begins with a whole line and knows its number, also after more was written', async () => {
    await using fixture = await withRun();
    await fixture.write('preparing', 'before\n');
    // More than what is counted in one step.
    await fixture.write('planning', lines(120_000));

    const [before, planning] = await endOf(fixture, 100);
    await fixture.write('planning', lines(90_000));
    const [, later] = await endOf(fixture, 100);

    expect(before).toEqual({ phase: 'preparing', size: 7, offset: 7, line: 2, text: '' });
    expect(planning.text).toMatch(/^line 1199\d\d é\n(.*\n)*line 120000 é\n$/);
    expect(planning.line).toBe(Number(/\d+/.exec(planning.text)?.[0]));
    expect(later.line).toBe(120_000 + Number(/\d+/.exec(later.text)?.[0]));
    expect(later.offset + Buffer.byteLength(later.text)).toBe(later.size);
  });

  it('never begins or ends inside of a character', async () => {
    await using fixture = await withRun();
    await fixture.write('planning', Buffer.concat([text('🚀'.repeat(50)), text('🚀').subarray(0, 2)]));

    const [planning] = await endOf(fixture, 21);

    expect(planning).toMatchObject({ line: 1, text: '🚀🚀🚀🚀' });
  });

  it('is empty without output', async () => {
    await using fixture = await withRun();

    expect(await endOf(fixture, 100)).toEqual([]);
  });
});

describe('a log that was removed for its age', () => {
  it('is told apart from one that is empty', async () => {
    await using fixture = await withRun();
    const { database } = fixture.installation;
    await fixture.end();
    const store = createRetentionStore(database);
    await database.write((tx) => store.markLogsRemoved(tx, [fixture.run.id]));

    const answer = await fixture.read();
    const { response } = await fixture.follow();
    const token = await fixture.installation.token('reader');
    const run = await call(fixture.installation, 'GET', `/api/v1/runs/${fixture.run.id}`, { token });

    expect(answer).toMatchObject({ status: 410, body: { code: 'log-removed' } });
    expect(response.status).toBe(410);
    expect(run.body.logRemoved).toBe(true);
  });
});

describe('a followed log', () => {
  it('shows what is written until the run is over, and says so', async () => {
    await using fixture = await withRun();
    await fixture.write('preparing', 'one');
    const { response, next } = await fixture.follow();

    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(await next()).toMatchObject({
      event: 'log',
      data: { phase: 'preparing', offset: 0, text: 'one' },
    });
    await fixture.write('planning', 'two');
    expect(await next()).toMatchObject({ event: 'log', data: { phase: 'planning', offset: 0, text: 'two' } });
    await fixture.write('planning', 'three');
    await fixture.end();
    expect(await next()).toMatchObject({
      event: 'log',
      data: { phase: 'planning', offset: 3, text: 'three' },
    });
    expect(await next()).toEqual({ id: undefined, event: 'end', data: { state: 'CANCELED' } });
    expect(await next()).toBeNull();
  });

  it('goes on after the last event that was seen, also when an earlier phase grew meanwhile', async () => {
    await using fixture = await withRun();
    await fixture.write('preparing', 'one');
    await fixture.write('planning', 'two');
    const first = await fixture.follow();
    await first.next();
    const seen = await first.next();
    await first.stop();

    // As after the loss of a worker: the run is prepared once more.
    await fixture.write('preparing', ' again');
    await fixture.write('planning', ' more');
    await fixture.end();
    const second = await fixture.follow('', { 'last-event-id': seen?.id ?? '' });

    expect(await second.next()).toMatchObject({ data: { phase: 'preparing', offset: 3, text: ' again' } });
    expect(await second.next()).toMatchObject({ data: { phase: 'planning', offset: 3, text: ' more' } });
    expect(await second.next()).toMatchObject({ event: 'end' });
  });

  it('of one phase has its offsets for ids', async () => {
    await using fixture = await withRun();
    await fixture.write('preparing', 'not this');
    await fixture.write('planning', 'two');
    await fixture.end();

    const { next } = await fixture.follow('?phase=planning', { 'last-event-id': '1' });

    expect(await next()).toMatchObject({ id: '3', data: { text: 'wo' } });
  });

  it('never cuts a character in two', async () => {
    await using fixture = await withRun();
    const rocket = text('ab🚀');
    await fixture.write('preparing', rocket.subarray(0, 4));
    const { next } = await fixture.follow();

    expect(await next()).toMatchObject({ data: { text: 'ab' } });
    await fixture.write('preparing', rocket.subarray(4));
    expect(await next()).toMatchObject({ data: { offset: 2, text: '🚀' } });
  });

  it('gives out half a character when nothing follows', async () => {
    await using fixture = await withRun();
    await fixture.write('preparing', text('🚀').subarray(0, 2));
    await fixture.end();
    const { next } = await fixture.follow();

    expect(await next()).toMatchObject({ data: { text: '\ufffd' } });
    expect(await next()).toMatchObject({ event: 'end' });
  });

  it('ends when the server stops, and is refused when too many are open', async () => {
    await using fixture = await withRun();
    const open = [await fixture.follow(), await fixture.follow(), await fixture.follow()];

    const refused = await fixture.follow();
    fixture.installation.web.endStreams();

    expect(refused.response.status).toBe(503);
    expect(await Promise.all(open.map(({ next }) => next()))).toEqual([null, null, null]);
    expect((await fixture.follow()).response.status).toBe(200);
  });

  it('takes no place for a question about its head', async () => {
    await using fixture = await withRun();
    for (let n = 0; n < 3; n += 1) expect((await fixture.head()).status).toBe(200);

    expect((await fixture.follow()).response.status).toBe(200);
  });

  it('begins behind what the page already has', async () => {
    await using fixture = await withRun();
    await fixture.write('preparing', 'one');
    await fixture.write('planning', 'two');

    const { next } = await fixture.follow('?after=3.0.1');

    expect(await next()).toMatchObject({ data: { phase: 'planning', offset: 1, text: 'wo' } });
  });

  it('refuses an id that is not of a stream', async () => {
    await using fixture = await withRun();

    expect((await fixture.follow('', { 'last-event-id': '1.x' })).response.status).toBe(422);
  });
});

describe('whole characters', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['aé', 3],
    ['a🚀', 5],
  ])('of %j are all of it', (value, length) => {
    expect(wholeCharacters(text(value))).toBe(length);
  });

  it.each([
    ['é', 1],
    ['€', 1],
    ['€', 2],
    ['🚀', 1],
    ['🚀', 3],
  ])('leave the beginning of %s out', (character, bytes) => {
    expect(wholeCharacters(text(`a${character}`).subarray(0, 1 + bytes))).toBe(1);
  });

  it('count bytes that are no characters at all', () => {
    expect(wholeCharacters(Uint8Array.of(0x80, 0x80, 0x80, 0x80))).toBe(4);
  });
});
