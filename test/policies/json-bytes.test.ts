import { describe, expect, it } from 'vitest';
import { jsonBytes } from '../../src/policies/json-bytes.ts';
import { fc } from '../support/fast-check.ts';

describe('JSON that is written piece by piece', () => {
  it('is what JSON.stringify writes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.anything({ withNullPrototype: true, withDate: true }), async (value) => {
        const text = JSON.stringify(value);
        expect((await jsonBytes(value))?.toString()).toBe(
          text === undefined ? undefined : Buffer.from(text).toString(),
        );
      }),
    );
  });

  it('has every step of a large plan, and lets others go on meanwhile', async () => {
    const steps = Array.from({ length: 5000 }, (_, index) => ({ urn: `ü ${index}`, text: 'a'.repeat(1000) }));
    const value = { pulumi: { steps } };
    let turns = 0;
    const others = setInterval(() => {
      turns += 1;
    });
    const bytes = await jsonBytes(value);
    clearInterval(others);
    expect(bytes?.equals(Buffer.from(JSON.stringify(value)))).toBe(true);
    expect(turns).toBeGreaterThan(0);
  });

  it('is null for what JSON cannot say', async () => {
    const endless: Record<string, unknown> = {};
    endless['self'] = endless;
    for (const value of [undefined, () => 1, endless, { big: 1n }]) expect(await jsonBytes(value)).toBeNull();
  });
});
