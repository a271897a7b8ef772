import { describe, expect, it } from 'vitest';
import { createResolver } from '../../../src/webhooks/targets/name-resolver.ts';

describe('the resolver', () => {
  it('does not wait for a name server that never answers', async () => {
    const resolve = createResolver(() => new Promise(() => undefined), 20);
    await expect(resolve('black-hole.example')).rejects.toMatchObject({ code: 'ETIMEOUT' });
  });

  it('asks once for all who ask at the same time, and again later', async () => {
    let asked = 0;
    const resolve = createResolver(() => {
      asked += 1;
      return Promise.resolve(['192.0.2.1']);
    });
    await Promise.all([resolve('a.example'), resolve('a.example'), resolve('a.example')]);
    expect(asked).toBe(1);
    await resolve('a.example');
    expect(asked).toBe(2);
  });

  it('leaves places of the system to others, however many names hang', async () => {
    const open: (() => void)[] = [];
    const resolve = createResolver(
      () => new Promise((answer) => open.push(() => answer(['192.0.2.1']))),
      60_000,
    );
    const answers = Array.from({ length: 40 }, (_, index) => resolve(`name-${index}.example`));
    for (let answered = 0; answered < 40; answered += 1) {
      expect(open.length).toBeLessThanOrEqual(16);
      open.shift()?.();
      await Promise.race(answers.slice(answered));
      await answers[answered];
    }
    expect((await Promise.all(answers)).length).toBe(40);
  });

  it('passes on what the system says', async () => {
    const error = Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    await expect(createResolver(() => Promise.reject(error))('a.example')).rejects.toBe(error);
  });

  it('knows the machine it runs on', async () => {
    expect(await createResolver()('localhost')).toContain('127.0.0.1');
  });
});
