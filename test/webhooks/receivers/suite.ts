import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import { createIds } from '../../../src/ids.ts';
import { makeFixtures } from '../../../src/webhooks/receiving/fixtures.ts';
import { sendFixtures } from '../../../src/webhooks/receiving/send-fixtures.ts';
import { eventually } from '../receiver.ts';
import { bodyOf, deliver, oddBodies, secondsFromNow } from './deliveries.ts';
import type { ReceiverProgram, StartProgram } from './program.ts';
import { type Passing, startRelay, without } from './relay.ts';

const secret = 'schlüssel 🔑';

/** What every receiver that we hand out must do with what the real sender sends. */
export function describeReceiver(name: string, start: StartProgram): void {
  /** Sends through somebody who changes it. */
  async function deliverChanged(
    receiver: ReceiverProgram,
    change: (passing: Passing) => Partial<Passing>,
  ): Promise<number | string> {
    await using relay = await startRelay(receiver.url, change);
    return await deliver({ url: relay.url, body: bodyOf(1), secret, id: 'a' });
  }

  async function hears(receiver: ReceiverProgram, lines: readonly string[]): Promise<void> {
    await eventually(
      () => receiver.said,
      ({ length }) => length >= lines.length,
    );
    expect(receiver.said).toEqual(lines);
  }

  describe(name, () => {
    it('takes every state of a run', async () => {
      await using receiver = await start(secret);
      const states = ['QUEUED', 'PLANNING', 'FINISHED'] as const;
      for (const [index, state] of states.entries()) {
        const body = bodyOf(index + 1, state);
        expect(await deliver({ url: receiver.url, body, secret, id: `d-${index}` })).toBe(204);
      }
      await hears(receiver, ['news run-a 1 QUEUED', 'news run-a 2 PLANNING', 'news run-a 3 FINISHED']);
    });

    it('refuses a body that was changed on the way, and takes it unchanged afterwards', async () => {
      await using receiver = await start(secret);
      const changed = (body: Buffer) => Buffer.from(body.toString().replace('PLANNING', 'FINISHED'));
      expect(await deliverChanged(receiver, ({ body }) => ({ body: changed(body) }))).toBe(401);
      expect(await deliverChanged(receiver, ({ body }) => ({ body }))).toBe(204);
      await hears(receiver, ['refused', 'news run-a 1 PLANNING']);
    });

    it.each([
      ['of another id', { 'webhook-id': 'b' }],
      ['of another time', { 'webhook-timestamp': String(Math.floor(Date.now() / 1000) - 1) }],
      ['of no time', { 'webhook-timestamp': '' }],
      ['with a time that is none', { 'webhook-timestamp': '1e9' }],
      ['with another last character', null],
      ['that is empty', { 'webhook-signature': '' }],
      ['without a digest', { 'webhook-signature': 'v1,' }],
      ['with a pattern for a digest', { 'webhook-signature': 'v1,* *' }],
    ])('refuses a signature %s', async (_what, headers) => {
      await using receiver = await start(secret);
      const status = await deliverChanged(receiver, (passing) => {
        const signature = passing.headers['webhook-signature']?.replace(/.=$/, (end) =>
          end === 'A=' ? 'E=' : 'A=',
        );
        return { headers: { ...passing.headers, ...(headers ?? { 'webhook-signature': signature ?? '' }) } };
      });
      expect(status).toBe(401);
      await hears(receiver, ['refused']);
    });

    it('is not kept busy by thousands of signatures', async () => {
      await using receiver = await start(secret);
      const many = Array.from({ length: 4000 }, () => 'a').join(' ');
      const status = await deliverChanged(receiver, ({ headers }) => ({
        headers: { ...headers, 'webhook-signature': many },
      }));
      expect(status).toBe(401);
    });

    it('refuses what has no signature', async () => {
      await using receiver = await start(secret);
      const status = await deliverChanged(receiver, ({ headers }) => ({
        headers: without(headers, /^(x-signature|webhook-)/),
      }));
      expect(status).toBe(401);
    });

    it('takes each of two signatures while the secret is being changed', async () => {
      await using receiver = await start(secret);
      for (const [id, listed] of [
        ['a', (own: string) => `v1,${'A'.repeat(43)}= ${own}`],
        ['b', (own: string) => `${own} v1,${'A'.repeat(43)}=`],
        ['c', (own: string) => `v1a,${'A'.repeat(86)}== ${own}`],
      ] as const) {
        await using relay = await startRelay(receiver.url, ({ headers }) => ({
          headers: { ...headers, 'webhook-signature': listed(headers['webhook-signature'] ?? '') },
        }));
        expect(await deliver({ url: relay.url, body: bodyOf(1), secret, id })).toBe(204);
      }
    });

    it('keeps the newest state when an older one comes later', async () => {
      await using receiver = await start(secret);
      for (const version of [3, 1, 2, 4]) {
        const sent = { url: receiver.url, body: bodyOf(version), secret, id: `d-${version}` };
        expect(await deliver(sent)).toBe(204);
      }
      const other = { url: receiver.url, body: bodyOf(1, 'QUEUED', 'run-b'), secret, id: 'other' };
      expect(await deliver(other)).toBe(204);
      await hears(receiver, [
        ...['news run-a 3 PLANNING', 'outdated run-a 1', 'outdated run-a 2', 'news run-a 4 PLANNING'],
        'news run-b 1 QUEUED',
      ]);
    });

    it('handles a delivery once, however often it comes', async () => {
      await using receiver = await start(secret);
      for (const _ of [1, 2, 3]) {
        expect(await deliver({ url: receiver.url, body: bodyOf(1), secret, id: 'same' })).toBe(204);
      }
      await hears(receiver, ['news run-a 1 PLANNING', 'duplicate run-a 1', 'duplicate run-a 1']);
    });

    it.each([
      ['ten minutes ago', -600, 401],
      ['four minutes ago', -240, 204],
      ['in four minutes', 240, 204],
      ['in ten minutes', 600, 401],
    ])('judges what was signed %s', async (_when, seconds, status) => {
      await using receiver = await start(secret);
      const clock = secondsFromNow(seconds);
      expect(await deliver({ url: receiver.url, body: bodyOf(1), secret, id: 'a', clock })).toBe(status);
    });

    it.each([
      ['another secret', `${secret}.`],
      ['no secret', null],
    ])('refuses what was signed with %s', async (_what, other) => {
      await using receiver = await start(secret);
      expect(await deliver({ url: receiver.url, body: bodyOf(1), secret: other, id: 'a' })).toBe(401);
      await hears(receiver, ['refused']);
    });

    it('takes bodies of every kind', async () => {
      await using receiver = await start(secret);
      for (const [index, [what, body]] of oddBodies.entries()) {
        expect(await deliver({ url: receiver.url, body, secret, id: `odd-${index}` }), what).toBe(204);
      }
      // All tell of the first state of one run.
      const [first, ...others] = receiver.said;
      expect(first).toBe('news 01JRUN0000000000000000000A 1 QUEUED');
      expect(new Set(others)).toEqual(new Set(['outdated 01JRUN0000000000000000000A 1']));
    });

    it('answers what is genuine and cannot be read with an error, and goes on', async () => {
      await using receiver = await start(secret);
      const sent = { url: receiver.url, secret, id: 'a' };
      expect([400, 500]).toContain(await deliver({ ...sent, body: Buffer.from('{"run":') }));
      expect(await deliver({ ...sent, body: bodyOf(1) })).toBe(204);
      await hears(receiver, ['news run-a 1 PLANNING']);
    });

    it('answers the test kit as it should', async () => {
      await using receiver = await start(secret);
      const fixtures = makeFixtures({ secret, nowMs: Date.now(), newId: createIds(systemClock) });
      const answers = await sendFixtures(fixtures, receiver.url, fetch);
      const statuses = answers.map(({ fixture, status }) => [fixture.name, status]);
      const expected = fixtures.map(({ name, expected: { answer } }) => [
        name,
        answer === 'accept' ? 204 : 401,
      ]);
      expect(statuses).toEqual(expected);
      const said = receiver.said.map((line) => line.replace(/ \w{26} /, ' '));
      const news = ['1 QUEUED', '3 PLANNING', '4 CONFIRMED', '5 PREPARING_APPLY', '6 APPLYING'];
      expect(said.filter((line) => line !== 'refused')).toEqual([
        ...[`news ${news[0]}`, 'duplicate 1', `news ${news[1]}`, 'outdated 2'],
        ...[...news.slice(2), '7 SOME_LATER_STATE'].map((each) => `news ${each}`),
      ]);
    });

    it('refuses what is no delivery before it reads it', async () => {
      await using receiver = await start(secret);
      const long = await request(receiver.url, { method: 'POST', body: Buffer.alloc(1_000_001) });
      const other = await request(receiver.url, { method: 'PUT', body: '{}' });
      await Promise.all([long.body.dump(), other.body.dump()]);
      expect(long.statusCode).toBe(413);
      expect([405, 501]).toContain(other.statusCode);
    });
  });
}
