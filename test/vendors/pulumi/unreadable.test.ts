import { describe, expect, test } from 'vitest';
import { readApply, readPlan } from '../../../src/vendors/pulumi/readings.ts';
import { fc } from '../../support/fast-check.ts';
import { outputsOf, recording, recordingNames } from './recordings.ts';

const succeeded = recordingNames
  .map(recording)
  .filter(({ exitCode, events }) => exitCode === 0 && events !== null);

describe('a result that cannot be trusted is unreadable', () => {
  const create = recording('create');
  const events = create.events ?? '';
  const lines = events.trimEnd().split('\n');
  const without = (part: string) =>
    lines
      .filter((line) => !line.includes(part))
      .map((line, sequence) => `${JSON.stringify({ ...JSON.parse(line), sequence })}\n`)
      .join('');

  test.each([
    ['no event log', { events: null }, 'left no event log'],
    ['an empty one', { events: '' }, 'it has no end'],
    ['none with an end', { events: without('cancelEvent') }, 'it has no end'],
    ['none with a summary', { events: without('summaryEvent') }, 'it has no summary'],
    ['success and a bad exit code', { exitCode: 1 }, 'exit code 1, but its event log reports success'],
    [
      'failure and a good exit code',
      { events: events.replace('"result":"succeeded"', '"result":"failed"') },
      'exit code 0, but its event log says "failed"',
    ],
    [
      'the log of an update',
      { events: events.replace('"isPreview":true', '"isPreview":false') },
      'another operation',
    ],
    ['half a plan', { plan: '{"resourcePlans": {' }, 'plan that pulumi saved is damaged'],
    ['a plan of another form', { plan: '{"resourcePlans": 1}' }, 'plan that pulumi saved is damaged'],
    ['an unknown step', { events: events.replaceAll('"op":"create"', '"op":"conjure"') }, 'a step "conjure"'],
  ])('with %s', async (_, change, message) => {
    const result = await readPlan(outputsOf(create, change));
    expect(result).toMatchObject({ kind: 'unreadable', message: expect.stringContaining(message) });
  });

  test('also for an apply', async () => {
    const done = recording('update-up');
    expect((await readApply(outputsOf(done, { events: null }))).kind).toBe('unreadable');
    expect((await readApply(outputsOf(done, { exitCode: 1 }))).kind).toBe('unreadable');
    expect((await readApply(outputsOf(create))).kind).toBe('unreadable');
  });

  test('wherever the log was cut off', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(succeeded.length - 1),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        async (which, part) => {
          const cut = succeeded[which];
          if (!cut) return;
          const bytes = Buffer.from(cut.events ?? '');
          const outputs = outputsOf(cut, { events: bytes.subarray(0, Math.floor(part * bytes.length)) });
          expect((await readPlan(outputs)).kind).toBe('unreadable');
          expect((await readApply(outputs)).kind).toBe('unreadable');
        },
      ),
      { numRuns: 300 },
    );
  });

  test('whichever line is missing or stands in another place', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(lines.length - 1), fc.nat(lines.length - 1), async (from, to) => {
        const changed = [...lines];
        const [moved = ''] = changed.splice(from, 1);
        const dropped = outputsOf(create, { events: `${changed.join('\n')}\n` });
        expect((await readPlan(dropped)).kind).toBe('unreadable');
        if (from === to) return;
        changed.splice(to, 0, moved);
        expect((await readPlan(outputsOf(create, { events: `${changed.join('\n')}\n` }))).kind).toBe(
          'unreadable',
        );
      }),
    );
  });

  test('and no bytes whatever make it throw', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(events.length), fc.uint8Array({ maxLength: 30 }), async (at, bytes) => {
        const broken = Buffer.concat([
          Buffer.from(events.slice(0, at)),
          bytes,
          Buffer.from(events.slice(at + bytes.length)),
        ]);
        expect(['planned', 'unreadable']).toContain(
          (await readPlan(outputsOf(create, { events: broken }))).kind,
        );
      }),
      { numRuns: 300 },
    );
  });
});
