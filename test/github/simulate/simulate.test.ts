import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { openCheckout } from '../../../src/github/simulate/checkout.ts';
import type { Simulation } from '../../../src/github/simulate/decision.ts';
import type { SimulatedEvent } from '../../../src/github/simulate/events.ts';
import { simulate } from '../../../src/github/simulate/simulate.ts';
import { repositoryFilePath } from '../../../src/stacks/managed.ts';
import { pulumiRules } from '../../../src/vendors/pulumi/rules.ts';
import { tempDirectory } from '../../support/temp-database.ts';
import { checkoutAt, startRecording } from './recorded.ts';

const run = (event: SimulatedEvent, payload: unknown, directory: string, otherStacks?: unknown) =>
  simulate({ event, payload, checkout: checkoutAt(directory), otherStacks, vendors: [pulumiRules] });

/** "stack: what, why", without the rest. */
const lines = ({ stacks }: Simulation) =>
  stacks.map(({ stack, selected, type, trusted, reason }) => {
    const how = [type, trusted === false ? 'untrusted' : ''].filter(Boolean).join(' ');
    return `${stack}: ${selected ? how || 'yes' : 'no'}, ${reason}`;
  });

const oldIsElsewhere = 'old: no, the pull request is for main, the stack follows another branch';

describe('a push', () => {
  test('to the tracked branch starts what it changes, by its own lists', async () => {
    await using world = await startRecording();
    await world.push('main', { 'net/a': '2' });

    const simulation = await run('push', world.payload('push'), world.clone());

    expect(simulation).toMatchObject({ event: 'push', repository: 'acme/infra', outcome: 'decided' });
    expect(simulation.changedPaths).toEqual({ from: 'payload', paths: ['net/a'] });
    expect(lines(simulation)).toEqual([
      'net: TRACKED, net/a is below the project root',
      'open: TRACKED, net/a is below the project root',
      'old: PROPOSED, net/a is below the project root',
      'dns: no, no changed path belongs to the stack',
    ]);
    expect(simulation.notes[0]).toContain('.github/slipway.yml was read as it lies in the checkout');
    expect(simulation.notes.filter((note) => note.startsWith('would be asked: '))).toHaveLength(1);
  });

  test('of a new branch is compared in the checkout, with the branch that each stack follows', async () => {
    await using world = await startRecording();
    await world.push('feature', { 'dns/a': '2' });

    const simulation = await run('push', world.payload('push'), world.clone());

    expect(simulation.changedPaths).toEqual({ from: 'unknown', paths: ['dns/a'] });
    expect(lines(simulation)).toEqual([
      'dns: PROPOSED, dns/a is below the project root',
      // There is no such branch: what differs from it is not known.
      'old: PROPOSED, the list of changed paths is not complete',
      'net: no, no changed path belongs to the stack',
      'open: no, no changed path belongs to the stack',
    ]);
  });

  test('that the checkout has not heard of concerns every stack, as on the server', async () => {
    await using world = await startRecording();
    const clone = world.clone();
    await world.push('feature', { 'dns/a': '2' });

    const simulation = await run('push', world.payload('push'), clone);

    expect(simulation.changedPaths?.from).toBe('unknown');
    expect(simulation.stacks.every(({ selected }) => selected)).toBe(true);
  });

  test('of a bot is trusted where the stack says so', async () => {
    await using world = await startRecording();
    world.github.addBot('renovate[bot]');
    await world.push('renovate', { 'net/a': '2', 'dns/a': '2' }, 'renovate[bot]');

    const { stacks } = await run('push', world.payload('push'), world.clone());

    expect(stacks.map(({ stack, trusted }) => [stack, trusted])).toEqual([
      ...[
        ['net', false],
        ['dns', true],
        ['open', false],
        ['old', false],
      ],
    ]);
  });

  test('of a tag, or that deletes a branch, starts nothing', async () => {
    await using world = await startRecording();
    const { github, repo } = world;
    await github.pushTag(repo, { tag: 'v1' });
    const tag = await run('push', world.payload('push'), world.clone());
    await world.push('gone', { 'net/a': '2' });
    await github.deleteBranch(repo, { branch: 'gone' });
    const gone = await run('push', world.payload('push'), world.clone());

    expect(tag).toMatchObject({ outcome: 'ignored', reason: 'refs/tags/v1 is not a branch', stacks: [] });
    expect(gone).toMatchObject({ outcome: 'ignored', reason: 'refs/heads/gone was deleted' });
  });

  test('is judged by the file as it lies there, and by stacks that no file manages', async () => {
    await using world = await startRecording();
    await world.push('main', { 'net/a': '2' });
    const clone = world.clone();
    const others = {
      items: [
        { id: 'hand-made', name: 'Hand made', projectRoot: 'net', repository: 'acme/infra', hooks: {} },
        { name: 'Net', projectRoot: 'elsewhere' },
        { name: 'Another', projectRoot: 'net', repository: 'acme/other' },
      ],
    };

    const both = await run('push', world.payload('push'), clone, others);
    rmSync(join(clone, '.github'), { recursive: true });
    const without = await run('push', world.payload('push'), clone, others.items);

    expect(both.stacks.map(({ stack }) => stack).toSorted()).toEqual([
      'dns',
      'hand-made',
      'net',
      'old',
      'open',
    ]);
    expect(lines(without)).toEqual([
      'hand-made: TRACKED, net/a is below the project root',
      'net: no, no changed path belongs to the stack',
    ]);
    expect(without.notes).toContain('there is no .github/slipway.yml in the checkout');
  });
});

describe('a merge group', () => {
  async function enqueued() {
    const world = await startRecording();
    await world.push('feature', { 'dns/a': '2' });
    const { number } = await world.github.openPullRequest(world.repo, { head: 'feature' });
    const group = await world.github.enqueue(world.repo, number);
    return { ...world, group, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
  }
  const decided = [
    'dns: PROPOSED, dns/a is below the project root',
    'net: no, no changed path belongs to the stack; it gets a neutral check',
    'open: no, no changed path belongs to the stack; it gets a neutral check',
    'old: no, the merge group is for main, the stack follows another branch',
  ];

  test.each(['merge_group', 'push'] as const)('is previewed, told by its %s', async (event) => {
    await using world = await enqueued();

    const simulation = await run(event, world.payload(event), world.clone());

    expect(simulation.changedPaths).toEqual({ from: 'checkout', paths: ['dns/a'] });
    expect(lines(simulation)).toEqual(decided);
  });
});

describe('a pull request', () => {
  async function opened(files: Record<string, string>, more: { draft?: boolean } = {}) {
    const world = await startRecording();
    await world.push('feature', files);
    await world.github.openPullRequest(world.repo, { head: 'feature', title: 'Change', ...more });
    return world;
  }

  test('previews what it changes since it left its base', async () => {
    await using world = await opened({ 'dns/a': '2' });
    // What happens on the base is none of its changes.
    await world.push('main', { 'net/a': '2' });

    const simulation = await run('pull_request', world.payload('pull_request'), world.clone());

    expect(simulation.changedPaths).toEqual({ from: 'checkout', paths: ['dns/a'] });
    expect(lines(simulation)).toEqual([
      'dns: PROPOSED, dns/a is below the project root',
      'net: no, no changed path belongs to the stack',
      'open: no, no changed path belongs to the stack',
      oldIsElsewhere,
    ]);
  });

  test('starts nothing as a draft', async () => {
    await using world = await opened({ 'net/a': '2' }, { draft: true });

    expect(lines(await run('pull_request', world.payload('pull_request'), world.clone()))).toEqual([
      oldIsElsewhere,
      ...['net', 'dns', 'open'].map((stack) => `${stack}: no, a draft starts nothing`),
    ]);
  });

  test('of a fork is previewed where the stack allows it, untrusted', async () => {
    await using world = await opened({ 'net/a': '2' });
    const payload = world.payload('pull_request');
    const head = (payload['pull_request'] as { head: { repo: { id: number } } }).head;
    head.repo = { ...head.repo, id: 1 };

    expect(lines(await run('pull_request', payload, world.clone()))).toEqual([
      'open: PROPOSED untrusted, net/a is below the project root',
      'net: no, pull requests of forks start nothing',
      'dns: no, pull requests of forks start nothing',
      oldIsElsewhere,
    ]);
  });

  test.each([
    ['labeled', 'nothing is done for the action labeled'],
    ['edited', 'its base is the same'],
    ['closed', 'previews of #1 that are not over would end'],
  ])('that was %s starts nothing', async (action, reason) => {
    await using world = await opened({ 'net/a': '2' });
    const payload = { ...world.payload('pull_request'), action };
    const pull_request = { ...(payload as { pull_request?: object }).pull_request, state: 'closed' };

    const simulation = await run('pull_request', { ...payload, pull_request }, world.clone());

    expect(simulation).toMatchObject({ outcome: 'ignored', reason, stacks: [] });
  });
});

const aComment = { id: 5, created_at: '2026-11-21T10:00:00Z' };

describe('a comment', () => {
  async function commented(body: string) {
    const world = await startRecording();
    const { github, repo } = world;
    await world.push('feature', { 'dns/a': '2' });
    const { number } = await github.openPullRequest(repo, { head: 'feature', title: 'Change' });
    await github.comment(repo, number, { body, login: 'ada' });
    return world;
  }

  test.each([
    ['/slipway preview', 'preview', 'writer', ['dns']],
    ['/slipway status', 'status', 'reader', ['dns']],
    ['/slipway explain *', 'explain', 'reader', ['net', 'dns', 'open', 'old']],
    ['/slipway deploy n*', 'deploy', 'writer', ['net']],
    ['/slipway unlock net', 'unlock', "writer; admin for somebody else's lock", ['net']],
    ['/slipway deploy nothing', 'deploy', 'writer', []],
    ['/slipway', 'help', 'reader', ['dns']],
  ])('%s', async (body, verb, role, selected) => {
    await using world = await commented(body);

    const simulation = await run('issue_comment', world.payload('issue_comment'), world.clone('feature'));

    expect(simulation).toMatchObject({ outcome: 'decided', command: { verb, role } });
    expect(simulation.command?.problem).toBe(selected.length === 0 ? 'no-match' : null);
    expect(simulation.stacks.filter((each) => each.selected).map(({ stack }) => stack)).toEqual(selected);
    expect(simulation.notes).toContain('would be asked: what ada may do in acme/infra');
  });

  test('that is not understood is answered', async () => {
    await using world = await commented('/slipway reveiw');

    const simulation = await run('issue_comment', world.payload('issue_comment'), world.clone());

    expect(simulation).toMatchObject({
      outcome: 'ignored',
      command: { verb: null, problem: expect.stringContaining('"reveiw" is not a command') },
    });
  });

  test.each([
    ['an edit', { action: 'edited' }, 'nothing is done for the action edited'],
    ['one of a bot', { sender: { id: 9, login: 'ci[bot]', type: 'Bot' } }, 'ci[bot] is not a person'],
    ['one below an issue', { issue: { number: 7, title: 'x' } }, '#7 is not a pull request'],
    ['one of people', { comment: { ...aComment, body: 'looks good' } }, 'the comment is not a command'],
    ['an empty one', { comment: { ...aComment, body: null } }, 'the comment is not a command'],
  ])('is ignored: %s', async (_, change, reason) => {
    await using world = await commented('/slipway deploy');
    const payload = { ...world.payload('issue_comment'), ...change };

    expect(await run('issue_comment', payload, world.clone())).toMatchObject({
      outcome: 'ignored',
      reason,
      command: null,
    });
  });
});

test('a clone that lacks trees fetches none', async () => {
  await using world = await startRecording();
  using directory = tempDirectory();
  const { github } = world;
  const files = { 'net/a': '1' };
  const repo = await github.addRepository({ owner: 'acme', name: 'open', files, private: false });
  await github.commitAndPush(repo, { branch: 'feature', files: { 'net/a': '2' }, message: 'Change' });
  const clone = join(directory.path, 'clone');
  const address = `${github.url}/acme/open.git`;
  await execa('git', ['clone', '--quiet', '--filter=tree:0', '--no-checkout', address, clone]);
  const before = github.requests.length;

  const git = { webUrl: github.url, path: process.env['PATH'] ?? '', caBundle: null };
  const paths = await openCheckout(clone, git).changedPaths('main', 'feature');

  expect(paths).toBeNull();
  expect(github.requests.length).toBe(before);
  // It would be there for who asks.
  await execa('git', ['-C', clone, 'diff', '--name-only', 'origin/main', 'origin/feature']);
  expect(github.requests.length).toBeGreaterThan(before);
});

test.each([
  ['a link', (path: string) => symlinkSync('/dev/zero', path)],
  ['a pipe', (path: string) => execa('mkfifo', [path])],
])('a checkout in which the repository file is %s is refused, not read', async (_, make) => {
  using directory = tempDirectory();
  mkdirSync(join(directory.path, '.github'));
  await make(join(directory.path, repositoryFilePath));

  await expect(checkoutAt(directory.path).repositoryFile()).rejects.toMatchObject({
    code: 'checkout-unreadable',
  });
});

describe('input that cannot be read', () => {
  test.each([
    ['no object', [1]],
    ['no repository', { ref: 'refs/heads/main' }],
  ])('is refused: %s', async (_, payload) => {
    await using world = await startRecording();

    await expect(run('push', payload, world.clone())).rejects.toMatchObject({ code: 'invalid-input' });
  });

  test('of another event is said not to be understood', async () => {
    await using world = await startRecording();
    await world.push('main', { 'net/a': '2' });
    const payload = world.payload('push');

    for (const event of ['pull_request', 'issue_comment'] as const) {
      const simulation = await run(event, payload, world.clone());
      expect(simulation).toMatchObject({
        ...{ outcome: 'failed', reason: expect.stringMatching(/^payload not understood: /) },
      });
    }
  });

  test('names what is wrong with the file and with the stacks', async () => {
    await using world = await startRecording();
    await world.push('main', { 'net/a': '2' });
    const [payload, clone] = [world.payload('push'), world.clone()];

    await expect(run('push', payload, clone, [{ name: 'x', branch: 1 }])).rejects.toThrow(
      /^--stacks: 0\.branch: /,
    );
    await expect(run('push', payload, clone, 7)).rejects.toThrow(/^--stacks: /);
    writeFileSync(join(clone, '.github/slipway.yml'), 'version: 2\n');
    await expect(run('push', payload, clone)).rejects.toThrow(
      /^\.github\/slipway\.yml:1:1: stacks is missing/,
    );
  });

  test('without an installation is looked at all the same, and said so', async () => {
    await using world = await startRecording();
    await world.push('main', { 'net/a': '2' });
    const { installation: _, ...payload } = world.payload('push');

    const simulation = await run('push', payload, world.clone());

    expect(simulation.outcome).toBe('decided');
    expect(simulation.notes[1]).toContain('names no installation');
  });
});
