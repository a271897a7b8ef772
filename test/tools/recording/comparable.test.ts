import { describe, expect, test } from 'vitest';
import { comparable } from '../../../tools/recording/comparable.ts';
import { neutraliser } from '../../../tools/recording/neutral.ts';

const event = (op: string, urn: string, sequence: number) =>
  JSON.stringify({ sequence, resourcePreEvent: { metadata: { op, urn } } });
const id = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;

describe('two recordings of the same thing are equal', () => {
  test('though events come in another order', () => {
    const one = `${event('create', 'a', 1)}\n${event('same', 'b', 2)}\n`;
    const other = `${event('same', 'b', 1)}\n${event('create', 'a', 2)}\n`;
    expect(comparable('events.jsonl', one)).toBe(comparable('events.jsonl', other));
    const changed = `${event('same', 'b', 1)}\n${event('update', 'a', 2)}\n`;
    expect(comparable('events.jsonl', one)).not.toBe(comparable('events.jsonl', changed));
  });

  test('though identifiers were numbered as they came', () => {
    expect(comparable('stdout.txt', `id ${id(1)}`)).toBe(comparable('stdout.txt', `id ${id(7)}`));
  });

  test('though lines of what goes on at once change places, but not when one is missing', () => {
    const text = 'a: Creating...\nb: Creating...\n';
    expect(comparable('stdout.txt', text)).toBe(comparable('stdout.txt', 'b: Creating...\na: Creating...\n'));
    expect(comparable('stdout.txt', text)).not.toBe(comparable('stdout.txt', 'a: Creating...\n'));
  });

  test('though a failing program gets to say more, which a successful one always does', () => {
    const outputs = JSON.stringify({ resOutputsEvent: { metadata: { type: 'pulumi:pulumi:Stack' } } });
    const failure = JSON.stringify({ diagnosticEvent: { severity: 'error', message: 'no' } });
    const ofEvents = (...events: string[]) => comparable('events.jsonl', events.join('\n'));
    expect(ofEvents(failure, outputs)).toBe(ofEvents(failure));
    expect(ofEvents(outputs)).not.toBe(ofEvents());
  });

  test('though what is relevant to a plan is listed in another order; other lists keep theirs', () => {
    const plan = (names: string[], key = 'relevant_attributes') => JSON.stringify({ [key]: names });
    const ofPlan = (text: string) => comparable('plan.json', text);
    expect(ofPlan(plan(['a', 'b']))).toBe(ofPlan(plan(['b', 'a'])));
    expect(ofPlan(plan(['a', 'b'], 'actions'))).not.toBe(ofPlan(plan(['b', 'a'], 'actions')));
  });
});

describe('a neutral text', () => {
  test('tells nothing of places and moments, and keeps apart what is apart', () => {
    const neutral = neutraliser({ '/run/of/mine': '' });
    const said = (one: string, other: string) =>
      neutral(
        `${one} in /run/of/mine/state, deposed object ${other}, complete after 12s, "timestamp":"2031-05-06T07:08:09Z"`,
      );
    const first = said('5f3a9a0e-1111-4222-8333-444455556666', '0a1b2c3d');
    expect(first).toBe(
      `${id(1)} in /state, deposed object dead0000, complete after 0s, "timestamp":"2026-01-01T00:00:00Z"`,
    );
    expect(said('5f3a9a0e-1111-4222-8333-444455556667', '0a1b2c3e')).toContain(
      `${id(2)} in /state, deposed object dead0001`,
    );
  });
});
