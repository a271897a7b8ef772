import { describe, expect, it } from 'vitest';
import { decidePush, type PushFacts } from '../../src/stacks/push-decision.ts';
import type { PushVerdict } from '../../src/stacks/push-judge.ts';
import { stackSettings, verdict } from '../support/builders.ts';

interface Case {
  readonly said: Partial<PushVerdict>;
  readonly facts?: Partial<PushFacts>;
  readonly stack?: Parameters<typeof stackSettings>[0];
  readonly start: 'TRACKED' | 'PROPOSED' | null;
  readonly reason?: string;
}

const own: PushFacts = {
  kind: 'push',
  branch: 'main',
  isFork: false,
  isClosed: false,
  isUntrusted: false,
};
const topic = { branch: 'topic' };
const ofFork: Partial<PushFacts> = {
  kind: 'pull_request',
  branch: 'mallory:topic',
  isFork: true,
  isUntrusted: true,
};
const closed: Partial<PushFacts> = { kind: 'pull_request', isClosed: true };
const tracked = { outcome: 'tracked' } as const;
const proposed = { outcome: 'proposed' } as const;

const decided = ({ said, facts, stack }: Omit<Case, 'start'>) =>
  decidePush(verdict(said), { ...own, ...facts }, stackSettings(stack));

describe('what push policies want', () => {
  it.each<[string, Case]>([
    ['track, of the own branch', { said: tracked, start: 'TRACKED' }],
    [
      'track without a trigger',
      { said: { ...tracked, notrigger: true }, start: null, reason: 'without a run' },
    ],
    ['propose, of the own branch', { said: proposed, start: 'PROPOSED' }],
    ['propose, of another', { said: proposed, facts: topic, start: 'PROPOSED' }],
    ['track, of another', { said: tracked, facts: topic, start: null, reason: 'promotion is off' }],
    [
      'track, of another with promotion',
      { said: tracked, facts: topic, stack: { promotion: true }, start: 'TRACKED' },
    ],
    [
      'track, of another with promotion, by a bot that is not trusted',
      {
        ...{ said: tracked, facts: { ...topic, isUntrusted: true }, stack: { promotion: true } },
        ...{ start: null, reason: 'not trusted' },
      },
    ],
    [
      'propose, by a bot that is not trusted',
      { said: proposed, facts: { isUntrusted: true }, start: 'PROPOSED' },
    ],
    ['ignore', { said: { outcome: 'ignored' }, start: null, reason: 'ignore' }],
    [
      'nothing',
      { said: { outcome: 'unmatched' }, start: null, reason: 'no rule of the push policies wants a run' },
    ],
    ['something that fails', { said: { outcome: 'failed' }, start: null, reason: 'cannot be judged' }],
    ['propose, of a fork', { said: proposed, facts: ofFork, start: null, reason: 'forks' }],
    [
      'propose, of a fork they allow',
      { said: { ...proposed, allowFork: true }, facts: ofFork, start: 'PROPOSED' },
    ],
    [
      'propose, of a fork the stack allows',
      { said: proposed, facts: ofFork, stack: { allowForks: true }, start: 'PROPOSED' },
    ],
    [
      'track, of a fork, whatever is allowed',
      {
        ...{
          said: { ...tracked, allowFork: true },
          facts: ofFork,
          stack: { allowForks: true, promotion: true },
        },
        ...{ start: null, reason: 'of a fork' },
      },
    ],
    [
      'track, of a merge group',
      {
        ...{
          said: tracked,
          facts: { kind: 'merge_group', branch: 'gh-readonly-queue/main/pr-7-a1' } as const,
        },
        ...{ stack: { promotion: true }, start: null, reason: 'not merged yet' },
      },
    ],
    ['propose, of one that is closed', { said: proposed, facts: closed, start: null, reason: 'not open' }],
    ['track, of one that is closed', { said: tracked, facts: closed, start: null, reason: 'not open' }],
  ])('%s', (_, { start, reason = '', ...given }) => {
    expect(decided(given)).toMatchObject({ start, reason: expect.stringContaining(reason) });
  });

  const wishes = {
    prioritize: true,
    cancel: ['01RUN'],
    lock: { key: 'freeze', policy: 'freezes' },
    unlock: ['thaw'],
  };
  const none = { prioritize: false, cancel: [], lock: null, unlock: [] };

  it.each<[string, Omit<Case, 'start'>, object]>([
    ['together with a run', { said: { ...wishes, ...tracked } }, wishes],
    ['when no rule wants a run', { said: { ...wishes, outcome: 'unmatched' } }, wishes],
    ['when it is ignored', { said: { ...wishes, outcome: 'ignored' } }, none],
    ['when a policy fails', { said: { ...wishes, outcome: 'failed' } }, none],
    ['for a fork', { said: { ...wishes, ...proposed }, facts: ofFork }, none],
    ['for a fork they allow', { said: { ...wishes, ...proposed, allowFork: true }, facts: ofFork }, wishes],
  ])('besides a run, %s', (_, given, expected) => {
    expect(decided(given)).toMatchObject(expected);
  });

  it.each<[Partial<PushVerdict>, string | null]>([
    [{ outcome: 'ignored' }, null],
    [{ outcome: 'ignored', notify: true }, 'neutral'],
    [{ outcome: 'ignored', notify: true, fail: true }, 'failure'],
    [{ outcome: 'unmatched', fail: true }, 'failure'],
    [{ outcome: 'failed' }, 'failure'],
  ])('%o is shown as %s', (said, shows) => {
    expect(decided({ said: { messages: ['m'], ...said } })).toMatchObject({ shows, messages: ['m'] });
  });
});
