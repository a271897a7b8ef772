import { promisify } from 'node:util';
import { deflateRaw } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { packDocument, unpackDocument } from '../../src/storage/document-text.ts';
import { fc } from '../support/fast-check.ts';

const unpacked = async (content: unknown) => {
  const back = await unpackDocument(await packDocument({ name: 'tool', content }));
  expect(back.name).toBe('tool');
  return JSON.stringify(back.content);
};

describe('the document of a plan, packed', () => {
  it('is what it was, whatever it is', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (content) => {
        expect(await unpacked(content)).toBe(JSON.stringify(content));
      }),
    );
  });

  it('is what it was, in however many parts', async () => {
    const large = fc.constantFrom('x'.repeat(40_000), 'a\nb]', ']', '=', { '__proto__:': [] });
    const { letrec, oneof, array, dictionary, string } = fc;
    const { json } = letrec((tie) => ({
      json: oneof(large, array(tie('json'), { maxLength: 4 }), dictionary(string(), tie('json'))),
    }));
    await fc.assert(
      fc.asyncProperty(array(json, { maxLength: 8 }), async (content) => {
        expect(await unpacked(content)).toBe(JSON.stringify(content));
      }),
    );
    const own = JSON.parse(`{"__proto__": ["${'x'.repeat(100_000)}"], "": null}`);
    expect(await unpacked(own)).toBe(JSON.stringify(own));
  });

  it('lets others go on meanwhile', async () => {
    const modules = Array.from({ length: 40 }, (_, index) => ({
      resources: Array.from({ length: 100 }, (_, id) => ({ index, id, text: 'a'.repeat(1000) })),
    }));
    const content = { planned_values: { root_module: { child_modules: modules } } };
    let turns = 0;
    const others = setInterval(() => {
      turns += 1;
    });
    const packed = await packDocument({ name: 'tool', content });
    const whilePacking = turns;
    const back = await unpackDocument(packed);
    clearInterval(others);

    expect(back.content).toEqual(content);
    expect(whilePacking).toBeGreaterThan(0);
    expect(turns).toBeGreaterThan(whilePacking);
  });

  it('is refused when its end is missing', async () => {
    const text = `tool\n[\n=1`;
    await expect(unpackDocument(await promisify(deflateRaw)(text))).rejects.toThrow('ends too early');
  });
});
