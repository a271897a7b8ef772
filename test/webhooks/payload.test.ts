import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { runStates } from '../../src/runs/run.ts';
import type { RunEvent } from '../../src/runs/run-event.ts';
import { payloadOf } from '../../src/webhooks/payload.ts';
import { payloadJsonSchema } from '../../src/webhooks/payload-schema.ts';
import { aCommit, aRun, aStack, stackSettings } from '../support/builders.ts';
import { fc } from '../support/fast-check.ts';

const schemaPath = join(import.meta.dirname, '../../docs/webhook-payload.schema.json');

function anEvent(change: Partial<RunEvent> = {}): RunEvent {
  return {
    run: aRun(),
    stack: aStack(),
    timestampMs: 1_795_000_012_999,
    actor: 'ada',
    note: 'not part of the payload',
    ...change,
  };
}

const withMessage = (message: string) => anEvent({ run: aRun({ commit: aCommit({ message }) }) });

function messageIn(body: Buffer): string {
  return (JSON.parse(body.toString('utf8')) as { run: { commit: { message: string } } }).run.commit.message;
}

describe('the payload', () => {
  it('is the specification, key for key and in its order', () => {
    const event = anEvent({
      run: aRun({
        id: '01JRUN',
        state: 'FINISHED',
        stateVersion: 7,
        createdAtMs: 1_795_000_001_500,
        delta: { added: 1, changed: 2, deleted: 3, resources: 14 },
        note: 'nor is this',
      }),
      stack: aStack({ settings: stackSettings({ description: 'All of it', labels: ['prod', 'eu'] }) }),
    });
    expect(payloadOf(event).toString('utf8')).toBe(
      JSON.stringify({
        account: 'acme',
        state: 'FINISHED',
        stateVersion: 7,
        timestamp: 1_795_000_012,
        run: {
          id: '01JRUN',
          branch: 'main',
          commit: {
            authorLogin: 'ada',
            authorName: 'Ada Example',
            hash: '1f0c2b3a4d5e6f708192a3b4c5d6e7f8091a2b3c',
            message: 'Widen the network',
            timestamp: 1_795_000_000,
            url: 'https://github.example/acme/infra/commit/1f0c2b3a4d5e6f708192a3b4c5d6e7f8091a2b3c',
          },
          createdAt: 1_795_000_001,
          delta: { added: 1, changed: 2, deleted: 3, resources: 14 },
          triggeredBy: 'ada@example.com',
          type: 'TRACKED',
        },
        stack: { id: 'network-prod', name: 'Network Prod', description: 'All of it', labels: ['prod', 'eu'] },
      }),
    );
  });

  it('has no delta before a preview, and one with zeros after it', () => {
    expect(JSON.parse(payloadOf(anEvent()).toString('utf8')).run).not.toHaveProperty('delta');
    const delta = { added: 0, changed: 0, deleted: 0, resources: 0 };
    const planned = payloadOf(anEvent({ run: aRun({ delta }) }));
    expect(JSON.parse(planned.toString('utf8')).run.delta).toEqual(delta);
  });

  it('keeps all six keys of a commit by nobody GitHub knows', () => {
    const body = payloadOf(anEvent({ run: aRun({ commit: aCommit({ authorLogin: '' }) }) }));
    expect(Object.keys(JSON.parse(body.toString('utf8')).run.commit)).toHaveLength(6);
  });

  it.each(['emoji 🎉', 'separators \u2028 \u2029', 'a quote " and a \\', 'a NUL \0', 'l’été'])(
    'carries %j as it is',
    (message) => {
      expect(messageIn(payloadOf(withMessage(message)))).toBe(message);
    },
  );

  it('writes half of a surrogate pair as a replacement character, raw and escaped', () => {
    const body = payloadOf(withMessage('broken \ud83d here'));
    expect(messageIn(body)).toBe('broken \ufffd here');
    expect(body.toString('utf8')).not.toContain('\\ud83d');
  });

  it('is well-formed UTF-8 whatever stands in the texts', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const body = payloadOf(withMessage(text));
        expect(messageIn(body)).toBe(text.toWellFormed());
        expect(() => new TextDecoder('utf-8', { fatal: true }).decode(body)).not.toThrow();
      }),
    );
  });

  it('keeps a commit message of 200 KB whole', () => {
    const message = 'x'.repeat(200_000);
    expect(messageIn(payloadOf(withMessage(message)))).toBe(message);
  });

  it.each(['x', 'é', '"', '\0', '🎉'])('shortens a message of 20 million times %j to fit 256 KiB', (part) => {
    const body = payloadOf(withMessage(part.repeat(20_000_000 / part.length)));
    expect(body.length).toBeLessThanOrEqual(262_144);
    expect(body.length).toBeGreaterThan(262_144 - 20);
    expect(messageIn(body).replaceAll(part, '')).toMatch(/^\ufffd?$/);
  });
});

describe('the published schema of the payload', () => {
  it('is what the code says (update with vitest -u)', async () => {
    await expect(`${JSON.stringify(payloadJsonSchema(), null, 2)}\n`).toMatchFileSnapshot(schemaPath);
  });

  /** The errors of a validator that is not ours, from the file that is published. */
  function errorsIn(values: readonly unknown[]): readonly unknown[] {
    const schema = JSON.parse(readFileSync(schemaPath, 'utf8')) as Record<string, unknown>;
    const validate = new Ajv2020({ strict: true }).compile(schema);
    return values.flatMap((value) => (validate(value) ? [] : (validate.errors ?? [])));
  }

  it('accepts every state with and without a delta', () => {
    const deltas = [{}, { delta: { added: 1, changed: 0, deleted: 0, resources: 1 } }];
    const payloads = runStates.flatMap((state) =>
      deltas.map((delta): unknown =>
        JSON.parse(payloadOf(anEvent({ run: aRun({ state, ...delta }) })).toString('utf8')),
      ),
    );
    expect(errorsIn(payloads)).toEqual([]);
  });

  it('names every state in its examples', () => {
    expect(payloadJsonSchema()).toMatchObject({ properties: { state: { examples: [...runStates] } } });
  });

  it('describes every field', () => {
    const missing = (schema: Record<string, unknown>, path: string): readonly string[] => {
      const properties = (schema['properties'] ?? {}) as Record<string, Record<string, unknown>>;
      return Object.entries(properties).flatMap(([name, property]) => [
        ...(typeof property['description'] === 'string' ? [] : [`${path}${name}`]),
        ...missing(property, `${path}${name}.`),
      ]);
    };
    expect(missing(payloadJsonSchema(), '')).toEqual([]);
  });

  it.each([
    ['an added key', { extra: 1 }],
    ['a state in lower case', { state: 'finished' }],
    ['a fraction', { stateVersion: 1.5 }],
    ['version 0', { stateVersion: 0 }],
    ['a missing run', { run: undefined }],
  ])('refuses %s', (_what, change) => {
    const payload = JSON.parse(payloadOf(anEvent()).toString('utf8')) as Record<string, unknown>;
    expect(errorsIn([JSON.parse(JSON.stringify({ ...payload, ...change }))])).not.toEqual([]);
  });
});
