import { describe, expect, it } from 'vitest';
import { changeLock } from '../../src/stacks/policy-lock.ts';
import type { StackLock } from '../../src/stacks/stack.ts';

const nowMs = 1_795_000_000_000;
const wish = (key: string) => ({ key, policy: 'freezes' });
const none = { lock: null, unlock: [] };
const ofPolicy: StackLock = {
  ...{ holder: 'policy freezes', holderKey: 'policy:pr 7', kind: 'system', reason: 'pr 7', run: null },
  sinceMs: nowMs,
};
const ofAda: StackLock = {
  ...{ holder: 'ada', holderKey: 'person:ada', kind: 'person', reason: 'lunch', run: null, sinceMs: 0 },
};
const afterLoss: StackLock = {
  ...{
    holder: 'slipway',
    holderKey: '',
    kind: 'system',
    reason: 'A worker was lost',
    run: '01RUN',
    sinceMs: 0,
  },
};

describe('a lock of a push policy', () => {
  it('is taken while there is none, in the name of the policy', () => {
    expect(changeLock(null, { lock: wish('pr 7'), unlock: [] }, nowMs)).toEqual({
      ...{ lock: ofPolicy, isChanged: true, heldBy: null },
    });
  });

  it('stays as it is for its own key, and stands against every other one', () => {
    const again = changeLock(ofPolicy, { lock: wish('pr 7'), unlock: [] }, nowMs + 1);
    const other = changeLock(ofPolicy, { lock: wish('pr 8'), unlock: [] }, nowMs + 1);
    expect(again).toEqual({ lock: ofPolicy, isChanged: false, heldBy: null });
    expect(other).toEqual({ lock: ofPolicy, isChanged: false, heldBy: 'policy freezes: pr 7' });
  });

  it('is not taken from a person, nor from the server', () => {
    for (const lock of [ofAda, afterLoss]) {
      const wished = { lock: wish('pr 7'), unlock: ['pr 7', 'lunch', ''] };
      expect(changeLock(lock, wished, nowMs)).toMatchObject({ lock, isChanged: false });
    }
    expect(changeLock(ofAda, { lock: wish('x'), unlock: [] }, nowMs).heldBy).toBe('ada: lunch');
  });

  it('goes by its own key only', () => {
    expect(changeLock(ofPolicy, { lock: null, unlock: ['pr 8'] }, nowMs).lock).toBe(ofPolicy);
    expect(changeLock(ofPolicy, { lock: null, unlock: ['pr 8', 'pr 7'] }, nowMs)).toEqual({
      ...{ lock: null, isChanged: true, heldBy: null },
    });
  });

  it('may change hands at once', () => {
    const { lock } = changeLock(ofPolicy, { lock: wish('pr 8'), unlock: ['pr 7'] }, nowMs);
    expect(lock).toMatchObject({ reason: 'pr 8', holderKey: 'policy:pr 8' });
  });

  it('goes from below the lock that the server has set since', () => {
    const covering = { ...afterLoss, covers: ofPolicy };
    expect(changeLock(covering, { lock: null, unlock: ['pr 7'] }, nowMs).lock).toEqual(afterLoss);
    expect(changeLock(covering, none, nowMs)).toMatchObject({ lock: covering, isChanged: false });
  });
});
