import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createApiBudget } from '../../src/github/api-budget.ts';
import { createGithubApp } from '../../src/github/github-app.ts';
import { rateLimitMs, statusOf } from '../../src/github/github-error.ts';
import { createLoop } from '../../src/github/loop.ts';
import { aClock, eventually, silent, startGithub } from './support.ts';

describe('the client of the App', () => {
  test('neither repeats a request that failed nor holds writes back', async () => {
    await using started = await startGithub();
    const { github, app, installation } = started;
    await github.addRepository({ owner: 'acme', name: 'infra', files: { a: '1' } });
    const octokit = await app.asInstallation(installation.id);
    github.failNext({ method: 'POST', pathPattern: /check-runs$/, status: 500 });
    const create = () =>
      octokit.request('POST /repos/acme/infra/check-runs', { name: 'x', head_sha: 'main' }).catch(statusOf);

    const startedMs = performance.now();
    const answers: unknown[] = [];
    for (let index = 0; index < 8; index += 1) answers.push(await create());

    expect(answers).toEqual([500, 422, 422, 422, 422, 422, 422, 422]);
    expect(github.requests.filter(({ path }) => path.endsWith('/check-runs'))).toHaveLength(8);
    // Octokit's throttling puts a second between writes.
    expect(performance.now() - startedMs).toBeLessThan(6000);
  });

  test('asks for another token when the one it keeps is void before its time, once', async () => {
    await using started = await startGithub({ nowMs: () => Date.now() });
    const { github, app, installation } = started;
    await github.addRepository({ owner: 'acme', name: 'infra', files: { a: '1' } });
    const ask = async () =>
      (await app.asInstallation(installation.id)).request('GET /repos/acme/infra').catch(statusOf);
    const minted = () => github.requests.filter(({ path }) => path.endsWith('/access_tokens')).length;
    await (await app.asInstallation(installation.id)).request('DELETE /installation/token');
    // In its first five seconds a token may be unknown to GitHub yet; Octokit repeats with the same.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 });
    onTestFinished(() => void vi.useRealTimers());

    expect(await ask()).toMatchObject({ status: 200 });
    expect(await ask()).toMatchObject({ status: 200 });
    expect(minted()).toBe(2);

    // When it gets none, there is an end.
    await (await app.asInstallation(installation.id)).request('DELETE /installation/token');
    vi.setSystemTime(Date.now() + 60_000);
    github.failNext({ method: 'POST', pathPattern: /access_tokens$/, status: 401, times: 20 });
    const before = github.requests.length;
    expect(await ask()).toBe(401);
    expect(github.requests.slice(before).map(({ path }) => path)).toEqual([
      '/repos/acme/infra',
      `/app/installations/${installation.id}/access_tokens`,
    ]);
  });

  test('ends what is under way when the server stops', async () => {
    await using started = await startGithub();
    const { app, installation } = started;

    app[Symbol.dispose]();

    const octokit = await app.asInstallation(installation.id);
    await expect(octokit.request('GET /repos/acme/infra')).rejects.toThrow(/abort/i);
  });

  test('does not exist without a webhook secret', async () => {
    const settings = { appId: 1, privateKey: 'x', webhookSecret: '', apiUrl: 'https://api.github.com' };
    await expect(createGithubApp(settings, createApiBudget({ clock: aClock() }), silent)).rejects.toThrow(
      'needs a webhook secret',
    );
  });
});

describe("GitHub's errors", () => {
  const nowMs = Date.parse('2026-11-21T10:00:00Z');
  const anError = (status: number, headers: Record<string, string> | null = {}) =>
    Object.assign(new Error('no'), { name: 'HttpError', status, ...(headers && { response: { headers } }) });

  test('have a status only when there was an answer', () => {
    expect(statusOf(anError(404))).toBe(404);
    expect(statusOf(anError(500, null))).toBeNull();
    expect(statusOf(new Error('Bad credentials'))).toBeNull();
    expect(statusOf(undefined)).toBeNull();
  });

  test.each([
    [anError(403, { 'retry-after': '60' }), 60_000],
    [anError(429, { 'retry-after': '0' }), 0],
    [anError(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(nowMs / 1000 + 90) }), 90_000],
    [anError(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(nowMs / 1000 - 5) }), 0],
    [anError(403, { 'x-ratelimit-remaining': '4999' }), null],
    [anError(429), 60_000],
    [anError(403, { 'retry-after': 'soon' }), null],
    [Object.assign(anError(403), { message: 'You have exceeded a secondary rate limit.' }), 60_000],
    [Object.assign(anError(403), { message: 'Resource not accessible by integration' }), null],
    [anError(500, { 'retry-after': '60' }), null],
  ])('%j ask for %j ms of peace', (error, expected) => {
    expect(rateLimitMs(error, nowMs)).toBe(expected);
  });
});

describe('a loop', () => {
  test('that is woken while it works works again, and goes on after an error', async () => {
    const seen: string[] = [];
    await using loop = createLoop({
      step: () => {
        seen.push('step');
        if (seen.length === 1) loop.wake();
        if (seen.length === 2) throw new Error('broken');
        return Promise.resolve(60_000);
      },
      onError: () => void seen.push('error'),
    });

    loop.start();
    loop.start();

    await eventually(() => expect(seen).toEqual(['step', 'step', 'error', 'step']));
  });

  test('that is not started never works', async () => {
    let steps = 0;
    const loop = createLoop({
      step: () => {
        steps += 1;
        return Promise.resolve(0);
      },
      onError: () => undefined,
    });

    loop.wake();
    await loop[Symbol.asyncDispose]();
    loop.start();

    expect(steps).toBe(0);
  });
});

test('the manifest asks for what the product uses, and no more', async () => {
  const manifest = await readFile(join(import.meta.dirname, '../../app.yml'), 'utf8');
  const permissions = [...manifest.matchAll(/^ {2}(\w+): (read|write)$/gm)].map(([, name, level]) => [
    name,
    level,
  ]);
  const events = [...manifest.matchAll(/^ {2}- (\w+)$/gm)].map(([, name]) => name);

  await using started = await startGithub();
  const { app } = started.github;
  expect(Object.fromEntries(permissions)).toEqual(app.permissions);
  expect(events).toEqual(app.events);
  expect(manifest).toMatch(/^ {2}url: https:\/\/\S+\/api\/github\/webhooks$/m);
});
