import { describe, expect, it } from 'vitest';
import { createReadyList } from '../../../src/webhooks/sending/ready-list.ts';

describe('the ready list', () => {
  it('lets webhooks take turns', () => {
    const ready = createReadyList();
    for (const id of ['a', 'b', 'c']) ready.add(id);
    ready.served('a');
    ready.add('a');
    expect([...ready.due(0)]).toEqual(['b', 'c', 'a']);
  });

  it('brings back what is expected when its time has come, the earliest of several', () => {
    const ready = createReadyList();
    ready.expect('a', 2000);
    ready.expect('a', 1000);
    ready.expect('b', 3000);
    expect(ready.nextAtMs()).toBe(1000);
    expect([...ready.due(999)]).toEqual([]);
    expect([...ready.due(1000)]).toEqual(['a']);
    expect(ready.nextAtMs()).toBe(3000);
    expect([...ready.due(3000)]).toEqual(['a', 'b']);
    expect(ready.nextAtMs()).toBeNull();
  });

  it('has each once, however often it is told of', () => {
    const ready = createReadyList();
    for (let times = 0; times < 3; times += 1) ready.add('a');
    ready.expect('a', 0);
    expect([...ready.due(5)]).toEqual(['a']);
  });
});
