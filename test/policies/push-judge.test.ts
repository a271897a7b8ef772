import { describe, expect, it } from 'vitest';
import { subjectOf, verdictOf } from '../../src/policies/push-judge.ts';
import { aCommit, aPullRequest, pullRequestDetails } from '../support/builders.ts';
import { aJudgement, aPolicy } from '../support/policies.ts';

const head = aCommit({ hash: '1a2b3c4d5e' });
const push = { branch: 'main', head, isForced: false, pusherLogin: 'ada', changedPaths: [] };

describe('what is recorded as judged', () => {
  it('is named for people', () => {
    const content = { head, changedPaths: [], bots: [] };
    const change = {
      ...{ repositoryId: 21, pullRequest: aPullRequest(), branch: 'topic', headHash: 'a1', isDraft: false },
      ...{ details: pullRequestDetails(), sender: { login: 'bob', email: 'bob@example.com' } },
    };
    expect(subjectOf({ kind: 'push', push })).toBe('the push of 1a2b3c4 to main');
    expect(subjectOf({ kind: 'merge_group', push })).toBe('the merge group of 1a2b3c4 to main');
    expect(subjectOf({ kind: 'pull_request', change, content })).toBe('pull request #7 (synchronize)');
  });
});

describe('what push policies say together', () => {
  const saying = (name: string, values: Readonly<Record<string, unknown>>) =>
    aJudgement({ policy: aPolicy({ name, kind: 'PUSH' }), outcome: 'undecided', messages: [], values });

  it('is nothing that one ignores, unlike what no rule matches', () => {
    expect(verdictOf([saying('a', { track: true }), saying('b', { ignore: true })]).outcome).toBe('ignored');
    expect(verdictOf([saying('a', { track: false })]).outcome).toBe('unmatched');
  });

  it('locks in the names of those that want it, and not with an empty key', () => {
    const both = [
      saying('b', { lock: 'freeze' }),
      saying('a', { lock: 'freeze' }),
      saying('c', { lock: '' }),
    ];
    expect(verdictOf(both).lock).toEqual({ key: 'freeze', policy: 'a, b' });
    expect(verdictOf([saying('c', { lock: '', unlock: '' })])).toMatchObject({ lock: null, unlock: [] });
  });

  it('fails with each policy that cannot be evaluated', () => {
    const failure = { code: 'timeout', message: 'it took too long' } as const;
    const failed = aJudgement({
      policy: aPolicy({ name: 'deploys' }),
      outcome: 'failed',
      values: {},
      failure,
    });
    expect(verdictOf([saying('a', { track: true }), failed])).toMatchObject({
      ...{ outcome: 'failed', messages: ['push policy deploys could not be evaluated: it took too long'] },
    });
  });
});
