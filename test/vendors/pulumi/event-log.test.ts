import { describe, expect, test } from 'vitest';
import { type EngineEvent, readEventLog, type StepEvent } from '../../../src/vendors/pulumi/event-log.ts';
import { splitLines } from '../../../src/vendors/pulumi/lines.ts';
import { maxDepth } from '../../../src/vendors/pulumi/secrets.ts';
import { fc } from '../../support/fast-check.ts';
import { bytesOf, recording, recordingNames } from './recordings.ts';

const secret = {
  '4dabf18193072939515e22adb298388d': '1b47061264138c4ac30d75fd1eb44270',
  ciphertext: '[secret]',
};
const urn = 'urn:pulumi:dev::sample::pulumi:index:Stash::one';

async function read(log: string | readonly Uint8Array[], lineBytes?: number): Promise<EngineEvent[]> {
  const bytes = typeof log === 'string' ? bytesOf(log) : bytesOf(...log);
  return Array.fromAsync(readEventLog(bytes, lineBytes));
}

/** Numbers the events, as the engine does. */
function logOf(...events: readonly object[]): string {
  return events
    .map((event, sequence) => `${JSON.stringify({ sequence, timestamp: 0, ...event })}\n`)
    .join('');
}

const end = { cancelEvent: {} };
const summary = { summaryEvent: { isPreview: true, result: 'succeeded', resourceChanges: { same: 1 } } };
const stepOf = (metadata: object) => ({
  resourcePreEvent: { metadata: { op: 'create', urn, type: 't', ...metadata } },
});

async function firstStep(metadata: object): Promise<StepEvent | undefined> {
  const [event] = await read(logOf(stepOf(metadata), end));
  return event?.kind === 'step' ? event.step : undefined;
}

describe('the event log', () => {
  test('is the same however its bytes arrive', async () => {
    const { events } = recording('replace-create-first');
    const bytes = Buffer.from(events ?? '');
    const whole = await read([bytes]);
    expect(whole.at(-1)).toEqual({ kind: 'end' });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 40 }), async (cuts) => {
        const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const chunks = places.slice(1).map((place, index) => bytes.subarray(places[index], place));
        expect(await read(chunks)).toEqual(whole);
      }),
      { numRuns: 50 },
    );
  });

  test('may be read from a buffer that is used again for each chunk', async () => {
    const bytes = Buffer.from(recording('no-change').events ?? '');
    async function* reusing() {
      const buffer = Buffer.alloc(100);
      for (let at = 0; at < bytes.length; at += buffer.length) {
        yield buffer.subarray(0, bytes.copy(buffer, 0, at));
      }
    }
    expect(await Array.fromAsync(readEventLog(reusing()))).toEqual(await read([bytes]));
  });

  test.each(recordingNames.filter((name) => recording(name).events !== null))(
    'of %s is whole',
    async (name) => {
      const events = await read(recording(name).events ?? '');
      expect(events.filter(({ kind }) => kind === 'broken')).toEqual([]);
      expect(events.at(-1)).toEqual({ kind: 'end' });
      expect(JSON.stringify(events)).not.toContain('4dabf18193072939515e22adb298388d');
    },
  );

  test('skips what it does not know and keeps errors and violated policies', async () => {
    const events = await read(
      logOf(
        { preludeEvent: { config: {} } },
        { somethingNew: { metadata: 1 } },
        { diagnosticEvent: { message: 'chatter', severity: 'debug', color: 'never' } },
        { diagnosticEvent: { message: 'boom\n', severity: 'error', color: 'never', urn } },
        { policyEvent: { policyName: 'no-public', enforcementLevel: 'mandatory', message: 'no' } },
        { policyEvent: { policyName: 'style', enforcementLevel: 'advisory', message: 'hm' } },
        { resOpFailedEvent: { metadata: { op: 'create', urn }, status: 0, steps: 0 } },
        { errorEvent: { error: 'late' } },
        summary,
        end,
      ),
    );
    expect(events).toEqual([
      { kind: 'error', urn, message: 'boom' },
      { kind: 'policy-violated', policy: 'no-public' },
      { kind: 'step-failed', urn, op: 'create' },
      { kind: 'error', urn: '', message: 'late' },
      { kind: 'summary', summary: summary.summaryEvent },
      { kind: 'end' },
    ]);
  });

  test.each([
    ['nothing', '', 'it has no end'],
    ['no end', logOf(summary), 'it has no end'],
    ['a cut line', logOf(summary, end).slice(0, -1), 'it ends in the middle of line 2'],
    ['something behind its end', logOf(end, summary), 'it goes on after its end'],
    ['a missing event', logOf(summary, end).replace('"sequence":1', '"sequence":2'), 'event 1 is missing'],
    [
      'an event twice',
      logOf(summary, summary, end).replace('"sequence":1', '"sequence":0'),
      'event 1 is missing',
    ],
    ['no numbers', '{"cancelEvent":{}}\n', 'line 1 is not an engine event'],
    ['rubbish', 'hello\n', 'line 1 is not JSON'],
    ['another kind of JSON', '[1]\n', 'line 1 is not an engine event'],
    [
      'a step without a URN',
      logOf({ resourcePreEvent: { metadata: { op: 'same' } } }, end),
      'not an engine event',
    ],
    ['states that are no objects', logOf(stepOf({ old: 'x' }), end), 'not an engine event'],
    [
      'outputs that are no object',
      logOf(stepOf({ old: { type: 't', urn, outputs: [] } }), end),
      'not an engine event',
    ],
    ['a summary without a result', logOf({ summaryEvent: { isPreview: true } }, end), 'not an engine event'],
  ])('with %s is broken, and nothing is read behind that', async (_, log, reason) => {
    const events = await read(log);
    expect(events.at(-1)).toEqual({ kind: 'broken', reason: expect.stringContaining(reason) });
    expect(events.filter(({ kind }) => kind === 'broken')).toHaveLength(1);
  });

  test('is never held in memory beyond a line, nor a line beyond its limit', async () => {
    let given = 0;
    async function* endless() {
      for (;;) {
        given += 1000;
        yield Buffer.alloc(1000, 'x');
      }
    }
    expect(await Array.fromAsync(readEventLog(endless(), 5000))).toEqual([
      { kind: 'broken', reason: 'line 1 is too long' },
    ]);
    expect(given).toBeLessThan(7000);
    expect(await read(logOf(stepOf({ op: 'x'.repeat(6000) }), end), 5000)).toHaveLength(1);
  });

  test('does not decode half a character into the next line', async () => {
    const bytes = Buffer.from('{"a":"ä€😀"}\n');
    for (let cut = 1; cut < bytes.length; cut++) {
      const lines = await Array.fromAsync(
        splitLines(bytesOf(bytes.subarray(0, cut), bytes.subarray(cut)), 1000),
      );
      expect(lines).toEqual([{ kind: 'line', text: '{"a":"ä€😀"}' }]);
    }
  });
});

describe('a resource state', () => {
  test('has exactly the eight fields of the specification, absent ones filled in', async () => {
    const step = await firstStep({ old: null, new: { type: 't', urn, protect: true, hideDiffs: [] } });
    expect(step?.old).toBeNull();
    expect(step?.new).toEqual({
      custom: false,
      id: '',
      inputs: {},
      outputs: {},
      parent: '',
      provider: '',
      type: 't',
      urn,
    });
    expect(step?.isUnchanged).toBe(false);
  });

  test('is unchanged only when also that is equal which a policy does not see', async () => {
    const state = { type: 't', urn, inputs: { a: [1, { b: null }] }, outputs: {} };
    expect((await firstStep({ old: state, new: state }))?.isUnchanged).toBe(true);
    expect((await firstStep({ old: state, new: { ...state, custom: false } }))?.isUnchanged).toBe(true);
    for (const change of [
      { protect: true },
      { retainOnDelete: true },
      { parent: 'x' },
      { outputs: { a: 1 } },
    ]) {
      expect((await firstStep({ old: state, new: { ...state, ...change } }))?.isUnchanged).toBe(false);
    }
  });

  test('shows a secret as [secret], in inputs and outputs, deep inside, and when the whole is one', async () => {
    const step = await firstStep({
      new: { type: 't', urn, inputs: { a: secret, b: [{ c: secret }] }, outputs: { all: { x: secret } } },
    });
    expect(step?.new?.inputs).toEqual({ a: '[secret]', b: [{ c: '[secret]' }] });
    expect(step?.new?.outputs).toEqual({ all: { x: '[secret]' } });
  });

  test('keeps a property called __proto__ a property', async () => {
    const text = `{"type":"t","urn":"${urn}","inputs":{"__proto__":{"polluted":true}}}`;
    const line = `{"sequence":0,"resourcePreEvent":{"metadata":{"op":"create","urn":"${urn}","type":"t","new":${text}}}}\n`;
    const [event] = await read(line);
    const inputs = event?.kind === 'step' ? event.step.new?.inputs : undefined;
    expect(JSON.stringify(inputs)).toBe('{"__proto__":{"polluted":true}}');
    expect(Object.getPrototypeOf(inputs)).toBe(Object.prototype);
  });

  test('is replaced for the places that the provider tells, else for the properties', async () => {
    const log = (more: object) => {
      const metadata = { op: 'create-replacement', urn, type: 't', keys: ['tags'], ...more };
      return `${JSON.stringify({ sequence: 0, resourcePreEvent: { metadata } })}\n`;
    };
    const paths = async (more: object) => {
      const [event] = await read(log(more));
      return event?.kind === 'step' ? event.step.replacedFor : null;
    };

    expect(await paths({})).toEqual(['tags']);
    expect(await paths({ detailedDiff: null })).toEqual(['tags']);
    expect(
      await paths({ detailedDiff: { 'tags.a': { kind: 'update-replace' }, size: { kind: 'update' } } }),
    ).toEqual(['tags.a']);
  });

  test('that is nested without end makes the log broken', async () => {
    const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const line = (depth: number) =>
      `{"sequence":0,"resourcePreEvent":{"metadata":{"op":"create","urn":"u","type":"t","new":{"type":"t","urn":"u","inputs":{"a":${deep(depth)}}}}}}\n`;
    for (const depth of [maxDepth, 100_000]) {
      expect(await read(line(depth))).toEqual([
        { kind: 'broken', reason: expect.stringContaining('nested') },
      ]);
    }
    expect((await read(line(100)))[0]?.kind).toBe('step');
  });
});
