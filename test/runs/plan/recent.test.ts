import { describe, expect, it } from 'vitest';
import { createRecent } from '../../../src/runs/plan/recent.ts';

interface Made {
  readonly name: string;
  readonly size: number;
}

function opened(mostSize = 10) {
  const recent = createRecent<Made>({ mostSize, sizeOf: ({ size }) => size, forMs: 60_000 });
  const made: string[] = [];
  const get = (name: string, size = 5) =>
    recent.get(name, async () => {
      made.push(name);
      return { name, size };
    });
  return { recent, made, get };
}

describe('what was made a moment ago', () => {
  it('is made once for all that ask, also while it is made', async () => {
    const { made, get } = opened();

    const [one, again, other] = [get('one'), get('one'), get('other')];

    expect(await again).toBe(await one);
    expect((await other).name).toBe('other');
    expect(await get('one')).toBe(await one);
    expect(made).toEqual(['one', 'other']);
  });

  it('makes room: what nobody asked for longest goes first', async () => {
    const { made, get } = opened();
    await get('one');
    await get('other');
    await get('one');

    await get('third');
    await get('one');
    await get('other');

    expect(made).toEqual(['one', 'other', 'third', 'other']);
  });

  it('is not kept when it alone is too large', async () => {
    const { made, get } = opened();
    await get('large', 11);
    await get('large', 11);

    expect(made).toEqual(['large', 'large']);
  });

  it('is forgotten when it could not be made', async () => {
    const { recent, get } = opened();
    await expect(recent.get('one', () => Promise.reject(new Error('no')))).rejects.toThrow('no');

    expect((await get('one')).name).toBe('one');
  });
});
