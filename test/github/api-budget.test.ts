import { expect, test } from 'vitest';
import { type ApiExchange, createApiBudget } from '../../src/github/api-budget.ts';
import { aClock, eventually, startGithub } from './support.ts';

const comments = '/repos/{owner}/{repo}/issues/{issue_number}/comments';
const checkRuns = '/repos/{owner}/{repo}/check-runs';

const exchange = (change: Partial<ApiExchange>): ApiExchange => ({
  ...{ method: 'GET', url: '/repos/{owner}/{repo}', headers: {} },
  ...change,
});

function open() {
  const clock = aClock();
  const budget = createApiBudget({ clock });
  return {
    ...{ clock, budget, startMs: clock.ms },
    spend(times: number, change: Partial<ApiExchange>, installationId = 1) {
      for (let index = 0; index < times; index += 1) budget.record(installationId, exchange(change));
    },
  };
}

const primary = (remaining: number, resetMs: number) => ({
  ...{ 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': String(remaining) },
  'x-ratelimit-reset': String(resetMs / 1000),
});

test('an installation of which nothing is known may send', () => {
  expect(open().budget.pausedUntilMs(1, 'write')).toBe(0);
});

test.each([
  ['writes', 'POST', 162, 'write'],
  ['reads', 'GET', 810, 'background'],
] as const)('%s fill the minute, of one installation', (_, method, most, purpose) => {
  const { budget, clock, startMs, spend } = open();
  spend(most - 1, { method, url: checkRuns });
  expect(budget.pausedUntilMs(1, purpose)).toBe(0);

  spend(1, { method, url: checkRuns });

  expect(budget.pausedUntilMs(1, purpose)).toBe(startMs + 60_000);
  expect(budget.pausedUntilMs(2, purpose)).toBe(0);
  clock.ms += 60_000;
  expect(budget.pausedUntilMs(1, purpose)).toBe(0);
});

test('the minute slides: room comes back as what was spent leaves it', () => {
  const { budget, clock, startMs, spend } = open();
  spend(100, { method: 'POST', url: checkRuns });
  clock.ms += 40_000;
  spend(62, { method: 'POST', url: checkRuns });

  expect(budget.pausedUntilMs(1, 'write')).toBe(startMs + 60_000);
  clock.ms = startMs + 60_000;

  expect(budget.pausedUntilMs(1, 'write')).toBe(0);
});

test('what notifies people has a narrower minute, and an hour', () => {
  const { budget, clock, startMs, spend } = open();
  const minutes = 6;
  for (let minute = 0; minute < minutes; minute += 1) {
    spend(72, { method: 'POST', url: comments });
    expect(budget.pausedUntilMs(1, 'content')).toBe(clock.ms + 60_000);
    // Check runs notify nobody, and edits do not.
    spend(10, { method: 'PATCH', url: '/repos/{owner}/{repo}/issues/comments/{comment_id}' });
    expect(budget.pausedUntilMs(1, 'write')).toBe(0);
    clock.ms += 60_000;
  }

  spend(450 - minutes * 72, { method: 'POST', url: comments });

  expect(budget.pausedUntilMs(1, 'content')).toBe(startMs + 3_600_000);
});

test('the primary limit keeps a reserve for questions that somebody waits for', () => {
  const { budget, clock, startMs, spend } = open();
  const resetMs = startMs + 1_200_000;
  const pausedAt = (remaining: number) => {
    spend(1, { headers: primary(remaining, resetMs) });
    return (['background', 'write'] as const).map((purpose) => budget.pausedUntilMs(1, purpose) > 0);
  };

  expect(pausedAt(1001)).toEqual([false, false]);
  expect(pausedAt(1000)).toEqual([true, false]);
  expect(pausedAt(100)).toEqual([true, true]);
  expect(budget.pausedUntilMs(1, 'write')).toBe(resetMs);
  expect(budget.standing().installations).toEqual([{ limit: 5000, remaining: 100, pausedUntilMs: 0 }]);
  clock.ms = resetMs;
  expect(budget.standing().installations).toEqual([{ limit: null, remaining: null, pausedUntilMs: 0 }]);
});

test('"still the same" is an answer, not a refusal', () => {
  const { budget, spend } = open();
  const answer = (status: number) =>
    Object.assign(new Error(String(status)), { name: 'HttpError', status, response: { headers: {} } });

  for (const status of [304, 404, 502]) spend(1, { error: answer(status) });

  expect(budget.standing().requests).toEqual({ granted: 1, refused: 1, limited: 0, failed: 1 });
});

test('GitHub is left alone for as long as it asks, whoever heard it, and no less', () => {
  const { budget, clock, startMs, spend } = open();
  const response = { headers: { 'retry-after': '90' } };
  const error = Object.assign(new Error('slow down'), { name: 'HttpError', status: 403, response });

  spend(1, { error });
  budget.pause(1, startMs + 5000);

  expect(budget.pausedUntilMs(1, 'write')).toBe(startMs + 90_000);
  clock.ms -= 86_400_000;
  budget.forget();
  expect(budget.pausedUntilMs(1, 'write')).toBe(0);
});

test('every request of an installation is counted, with what GitHub says of its limit', async () => {
  await using all = await startGithub();
  const { github, app, budget, installation } = all;
  await github.addRepository({ owner: 'acme', name: 'infra', files: { a: '1' } });
  const octokit = await app.asInstallation(installation.id);
  github.failNext({ pathPattern: /branches/, status: 429, headers: { 'retry-after': '30' } });

  await octokit.rest.repos.get({ owner: 'acme', repo: 'infra' });
  expect(budget.standing()).toEqual({
    installations: [{ limit: 5000, remaining: 4999, pausedUntilMs: 0 }],
    // The question for the token is one.
    requests: { granted: 2, refused: 0, limited: 0, failed: 0 },
  });
  await expect(octokit.rest.repos.listBranches({ owner: 'acme', repo: 'infra' })).rejects.toThrow();

  await eventually(() => expect(budget.pausedUntilMs(installation.id, 'write')).toBe(all.clock.ms + 30_000));
});
