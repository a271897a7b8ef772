import { describe, expect, it } from 'vitest';
import { type PullRequest, selectForPullRequest } from '../../src/stacks/pull-request.ts';
import type { StackSettings } from '../../src/stacks/stack.ts';
import { aPullRequest, aStack, stackSettings } from '../support/builders.ts';

const bot = 'renovate[bot]';

interface Case {
  readonly stack?: Partial<StackSettings>;
  readonly pullRequest?: Partial<PullRequest>;
  readonly changedPaths?: readonly string[] | null;
  readonly bots?: readonly string[];
}

function select({ stack, pullRequest, changedPaths = ['infra/a'], bots = [] }: Case) {
  const stacks = [aStack({ settings: stackSettings({ projectRoot: 'infra', ...stack }) })];
  const [selection] = selectForPullRequest(stacks, aPullRequest(pullRequest), { changedPaths, bots });
  if (!selection?.selected) return selection?.reason;
  return selection.isUntrusted ? 'without secrets' : 'with secrets';
}

const otherBase = (base: string) => `the pull request is for ${base}, the stack follows another branch`;
const noForks = 'pull requests of forks start nothing';
const beside = 'no changed path belongs to the stack';

describe('a pull request previews a stack', () => {
  it.each<[title: string, given: Case, outcome: string]>([
    ['of its base', {}, 'with secrets'],
    ['of another base', { pullRequest: { base: 'develop' } }, otherBase('develop')],
    ['whose base is spelled otherwise', { pullRequest: { base: 'Main' } }, otherBase('Main')],
    ['whose base begins alike', { pullRequest: { base: 'main-2' } }, otherBase('main-2')],
    [
      'that follows the base',
      { stack: { branch: 'develop' }, pullRequest: { base: 'develop' } },
      'with secrets',
    ],
    ['beside whose root it changes things', { changedPaths: ['infrastructure/a', 'README.md'] }, beside],
    ['when it changes nothing', { changedPaths: [] }, beside],
    [
      'at its root, when it changes nothing',
      { stack: { projectRoot: '' }, changedPaths: [] },
      'no changed path belongs to the stack',
    ],
    ['when one of many paths is below the root', { changedPaths: ['a', 'b', 'infra/x/y'] }, 'with secrets'],
    [
      'when a glob matches',
      { stack: { additionalProjectGlobs: ['modules/**'] }, changedPaths: ['modules/vpc/a'] },
      'with secrets',
    ],
    ['when the list of paths is not complete', { changedPaths: null }, 'with secrets'],
    ['of a fork', { pullRequest: { isFork: true } }, noForks],
    [
      'of a fork where that is allowed',
      { stack: { allowForks: true }, pullRequest: { isFork: true } },
      'without secrets',
    ],
    [
      'of a fork for another base',
      { stack: { allowForks: true }, pullRequest: { isFork: true, base: 'x' } },
      otherBase('x'),
    ],
    [
      'of a fork beside its root',
      { stack: { allowForks: true }, pullRequest: { isFork: true }, changedPaths: ['a'] },
      beside,
    ],
    ['of a bot', { bots: [bot] }, 'without secrets'],
    ['of a bot that it trusts', { stack: { trustedBots: [bot] }, bots: [bot] }, 'with secrets'],
    [
      'of a bot that it trusts in other case',
      { stack: { trustedBots: ['Renovate[Bot]'] }, bots: [bot] },
      'with secrets',
    ],
    [
      'of a bot whose name is listed without [bot]',
      { stack: { trustedBots: ['renovate'] }, bots: [bot] },
      'without secrets',
    ],
    [
      'of two bots of which it trusts one',
      { stack: { trustedBots: [bot] }, bots: [bot, 'other[bot]'] },
      'without secrets',
    ],
    [
      'of a fork by a bot that it trusts',
      { stack: { allowForks: true, trustedBots: [bot] }, pullRequest: { isFork: true }, bots: [bot] },
      'without secrets',
    ],
    ['of a bot beside its root', { bots: [bot], changedPaths: ['a'] }, beside],
  ])('%s: %o', (_title, given, outcome) => {
    expect(select(given)).toBe(outcome);
  });
});
