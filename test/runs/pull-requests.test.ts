import { describe, expect, it } from 'vitest';
import type { PullRequest, PullRequestContent } from '../../src/stacks/pull-request.ts';
import { aCommit, aPullRequest, person, pullRequestDetails } from '../support/builders.ts';
import { openRunWorld, type RunWorld, type RunWorldOptions } from '../support/run-world.ts';
import { runsOfStack } from '../support/runs-of-stack.ts';

interface Change {
  readonly pullRequest?: Partial<PullRequest>;
  readonly branch?: string;
  readonly isDraft?: boolean;
  readonly content?: Partial<PullRequestContent>;
  readonly delivery?: string;
}

async function opened(options: RunWorldOptions = {}) {
  const world = await openRunWorld(options);
  let reads = 0;

  async function change(hash: string, { delivery, ...given }: Change = {}) {
    const notes = await world.pullRequests.changed(
      {
        repositoryId: 21,
        pullRequest: aPullRequest(given.pullRequest),
        branch: given.branch ?? 'topic',
        headHash: hash,
        isDraft: given.isDraft ?? false,
        details: pullRequestDetails(),
        sender: { login: 'bob', email: 'bob@example.com' },
        read: () => {
          reads += 1;
          const head = aCommit({ hash });
          return Promise.resolve({ head, changedPaths: ['x'], bots: [], ...given.content });
        },
      },
      delivery ?? `delivery-${world.newId()}`,
    );
    await world.scheduler.settled();
    return notes;
  }
  /** The id of the run that it started. */
  async function changed(...input: Parameters<typeof change>): Promise<string> {
    return runIn(await change(...input));
  }
  async function close(number: number) {
    const notes = await world.pullRequests.closed({ repositoryId: 21, number, by: 'cleo' });
    await world.scheduler.settled();
    return notes;
  }
  const dispose = () => world[Symbol.asyncDispose]();
  return { ...world, change, changed, close, reads: () => reads, [Symbol.asyncDispose]: dispose };
}

function runIn([note = '']: readonly string[]): string {
  const [, id] = / run (\w+)/.exec(note) ?? [];
  if (id === undefined) throw new Error(`no run in: ${note}`);
  return id;
}

const topic = { branch: 'topic' };
const listed = (world: Pick<RunWorld, 'database'>, stackKey: string) => runsOfStack(world.database, stackKey);

describe('a pull request', () => {
  it('makes a preview of its head that knows it', async () => {
    await using world = await opened();
    await world.addStack();

    const id = await world.changed('a1');

    expect(await world.run(id)).toMatchObject({
      ...{ type: 'PROPOSED', state: 'READY', branch: 'topic', commit: { hash: 'a1' } },
      ...{ triggeredBy: 'bob@example.com', startedBy: 'person:bob' },
      pullRequest: aPullRequest(),
    });
  });

  it('makes one run with the push of its commit, whichever comes first, with the data of both', async () => {
    await using world = await opened();
    const { key } = await world.addStack();

    const byPush = await world.pushed('a1', topic);
    expect(await world.change('a1')).toEqual([expect.stringContaining('already')]);
    const byPullRequest = await world.changed('b2');
    expect(await world.push('b2', topic)).toEqual([expect.stringContaining('already')]);

    expect((await listed(world, key)).map(({ id }) => id)).toEqual([byPullRequest, byPush]);
    expect(await world.run(byPush)).toMatchObject({
      ...{ pullRequest: aPullRequest(), triggeredBy: 'ada@example.com' },
      ...{ state: 'CANCELED', outcome: 'superseded' },
    });
    expect(await world.run(byPullRequest)).toMatchObject({ pullRequest: aPullRequest(), state: 'READY' });
  });

  it('makes one run, however often and however concurrently it is told', async () => {
    await using world = await opened();
    const { key } = await world.addStack();

    await Promise.all([
      ...['one', 'one', 'two'].map((delivery) => world.change('a1', { delivery })),
      world.push('a1', topic),
    ]);

    expect(await listed(world, key)).toHaveLength(1);
  });

  it('supersedes the previews of older commits of its branch, and of no other', async () => {
    await using world = await opened();
    await world.addStack();
    const waiting = await world.changed('a1');
    const elsewhere = await world.changed('c3', { branch: 'other', pullRequest: { number: 8 } });
    const working = await world.changed('b2');
    expect(await world.run(waiting)).toMatchObject({ state: 'CANCELED', outcome: 'superseded' });
    // The oldest that waits is claimed first.
    await world.claimed();
    await world.claimed();

    const newest = await world.changed('d4');

    expect(await world.run(working)).toMatchObject({
      ...{ state: 'STOPPED', outcome: 'superseded', note: `superseded by run ${newest}` },
    });
    expect((await world.run(elsewhere)).state).toBe('PREPARING');
  });

  it('asks for its content only when a stack may be concerned', async () => {
    await using world = await opened();
    expect(await world.change('a1')).toEqual(['no stack belongs to the repository']);
    const { id } = await world.addStack();

    const notes = [
      await world.change('a1', { pullRequest: { base: 'develop' } }),
      await world.change('a1', { pullRequest: { isFork: true } }),
      await world.change('a1', { isDraft: true }),
    ];

    expect(notes).toEqual([
      [`${id}: the pull request is for develop, the stack follows another branch`],
      [`${id}: pull requests of forks start nothing`],
      [`${id}: a draft starts nothing`],
    ]);
    expect(world.reads()).toBe(0);
  });

  it('says for each stack why it starts nothing', async () => {
    await using world = await opened();
    const beside = await world.addStack({ projectRoot: 'network' });
    const other = await world.addStack({ branch: 'develop' });
    const concerned = await world.addStack();

    expect(await world.change('a1')).toEqual([
      `${other.id}: the pull request is for main, the stack follows another branch`,
      `${beside.id}: no changed path belongs to the stack`,
      expect.stringMatching(`^${concerned.id}: PROPOSED run \\w+$`),
    ]);
  });

  it('that is a draft starts nothing, and owns the run of its push', async () => {
    await using world = await opened();
    const { key } = await world.addStack();
    const id = await world.pushed('a1', topic);

    const [note] = await world.change('a1', { isDraft: true });
    await world.close(7);

    expect(note).toContain(`a draft starts nothing; run ${id} is of its commit`);
    expect(await listed(world, key)).toMatchObject([{ id, state: 'CANCELED', pullRequest: { number: 7 } }]);
  });
});

describe('a pull request that is closed', () => {
  it('ends its previews: canceled while they wait, stopped while they work', async () => {
    await using world = await opened();
    const first = await world.addStack();
    const second = await world.addStack();
    await world.change('a1');
    const [working] = await listed(world, first.key);
    const [waiting] = await listed(world, second.key);
    await world.claimed();

    const notes = await world.close(7);

    const ended = { note: 'pull request #7 was closed', outcome: 'pull_request_closed' };
    expect(await world.run(working?.id ?? '')).toMatchObject({ state: 'STOPPED', ...ended });
    expect(await world.run(waiting?.id ?? '')).toMatchObject({ state: 'CANCELED', ...ended });
    expect((await world.runs.events(waiting?.id ?? '')).at(-1)).toMatchObject({ actor: 'cleo' });
    expect(notes).toEqual([
      `${first.id}: run ${working?.id} is STOPPED`,
      `${second.id}: run ${waiting?.id} is CANCELED`,
    ]);
    expect(await world.close(7)).toEqual(['no preview of #7 was under way']);
  });

  it('ends nothing of another one of the same branch, and no other run', async () => {
    await using world = await opened();
    await world.addStack();
    await world.addStack({ branch: 'develop' });
    const ids = [
      runIn((await world.change('a1', { pullRequest: { number: 8, base: 'develop' } })).slice(1)),
      runIn(await world.push('b2')),
    ];

    expect(await world.close(7)).toEqual(['no preview of #7 was under way']);

    expect(await Promise.all(ids.map(async (id) => (await world.run(id)).state))).toEqual(['READY', 'READY']);
  });

  it('leaves what is over as it is', async () => {
    await using world = await opened();
    await world.addStack();
    const id = await world.changed('a1');
    await world.plan();

    await world.close(7);

    expect(await world.run(id)).toMatchObject({ state: 'FINISHED', stateVersion: 6 });
    expect(await world.change('a1')).toEqual([expect.stringContaining('already')]);
  });

  it('is previewed again when it is reopened', async () => {
    await using world = await opened();
    await world.addStack();
    const before = await world.changed('a1');
    await world.close(7);

    const after = await world.changed('a1');

    expect(after).not.toBe(before);
    expect((await world.run(after)).state).toBe('READY');
  });
});

describe('what is not trusted', () => {
  const allowed = { allowForks: true, trustedBots: ['renovate[bot]'] };
  const fork = { pullRequest: { isFork: true }, branch: 'mallory:topic' };
  const variables = [
    { name: 'PLAIN', value: 'plain value', secret: false, access: 'all' },
    { name: 'KEY', value: 'secret value', secret: true, access: 'all' },
  ] as const;

  async function withVariables() {
    const world = await opened();
    const stack = await world.addStack(allowed);
    for (const variable of variables) {
      await world.database.write((tx) => world.stackStore.putVariable(tx, stack.key, variable));
    }
    return { ...world, stack, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
  }
  type World = Awaited<ReturnType<typeof withVariables>>;

  const cases: readonly [string, (world: World) => Promise<readonly string[]>, boolean][] = [
    ['a fork', (world) => world.change('a1', fork), false],
    ['a bot that is not listed', (world) => world.change('a1', { content: { bots: ['x[bot]'] } }), false],
    ['a bot that is listed', (world) => world.change('a1', { content: { bots: ['renovate[bot]'] } }), true],
    ['a push of a bot', (world) => world.push('a1', { ...topic, login: 'x[bot]', isBot: true }), false],
    [
      'a push of a bot that is listed',
      (world) => world.push('a1', { ...topic, login: 'Renovate[bot]', isBot: true }),
      true,
    ],
    ['a push of a person', (world) => world.push('a1', topic), true],
    [
      'a push of a bot to the tracked branch',
      (world) => world.push('a1', { login: 'x[bot]', isBot: true }),
      true,
    ],
  ];
  it.each(cases)('%s: secrets reach the worker only if it is trusted', async (_what, start, isTrusted) => {
    await using world = await withVariables();
    const notes = await start(world);

    const { frozen, run } = await world.claimed();

    expect(run.isUntrusted ?? false).toBe(!isTrusted);
    expect(notes[0]?.endsWith(' without secrets')).toBe(!isTrusted);
    const names = frozen.variables.map(({ name }) => name).toSorted();
    expect(names).toEqual(isTrusted ? ['KEY', 'PLAIN'] : ['PLAIN']);
    expect(JSON.stringify(frozen).includes('secret value')).toBe(isTrusted);
  });

  it('stays without secrets when it is retried, also by somebody who may everything', async () => {
    await using world = await withVariables();
    const id = await world.changed('a1', fork);
    await world.commands.cancel(id, { actor: 'ada' });

    const again = await world.commands.retry(id, { by: person('ada') });
    await world.scheduler.settled();

    expect(again).toMatchObject({ isUntrusted: true, pullRequest: { isFork: true } });
    expect((await world.claimed()).frozen.variables.map(({ name }) => name)).toEqual(['PLAIN']);
  });

  it('is not retried once the stack allows no forks', async () => {
    await using world = await withVariables();
    const id = await world.changed('a1', fork);
    await world.commands.cancel(id, { actor: 'ada' });
    await world.stacks.update(world.stack, { allowForks: false });

    await expect(world.commands.retry(id, { by: person('ada') })).rejects.toMatchObject({
      code: 'forks-not-allowed',
    });
  });

  it('is no answer to a push of the same commit to our repository, which supersedes nothing of the fork', async () => {
    await using world = await withVariables();
    const ofFork = await world.changed('a1', fork);

    const ours = await world.pushed('a1', topic);

    expect(await world.run(ours)).toMatchObject({ state: 'READY' });
    expect(await world.run(ours)).not.toHaveProperty('isUntrusted');
    expect((await world.run(ofFork)).state).toBe('READY');
  });

  it('does not take over what a push of ours started, nor ends it', async () => {
    await using world = await withVariables();
    const ours = await world.pushed('a1', topic);

    const notes = await world.change('a1', fork);
    await world.close(7);

    expect(notes).toEqual([expect.stringContaining('already')]);
    const run = await world.run(ours);
    expect(run.state).toBe('READY');
    expect(run).not.toHaveProperty('pullRequest');
  });

  it('of a fork whose branch has the name of ours supersedes nothing of ours', async () => {
    await using world = await withVariables();
    const ours = await world.pushed('a1', topic);
    await world.changed('b2', fork);
    expect((await world.run(ours)).state).toBe('READY');
  });

  it('does not get secrets because a person opens a pull request of what a bot pushed', async () => {
    await using world = await withVariables();
    const ofBot = runIn(await world.push('a1', { ...topic, login: 'x[bot]', isBot: true }));

    const notes = await world.change('a1');

    expect(notes).toEqual([expect.stringContaining('already')]);
    expect(await world.run(ofBot)).toMatchObject({ isUntrusted: true, pullRequest: { number: 7 } });
    await world.close(7);
    const reopened = await world.change('a1');
    expect(reopened).toEqual([expect.stringMatching(/PROPOSED run \w+ without secrets$/)]);
  });

  it('of a fork is no answer to a pull request of ours with the same commit', async () => {
    await using world = await withVariables();
    const ofFork = await world.changed('a1', fork);

    const ours = await world.changed('a1', { pullRequest: { number: 8 } });
    await world.close(8);

    expect(await world.run(ours)).toMatchObject({ state: 'CANCELED', pullRequest: { number: 8 } });
    expect(await world.run(ofFork)).toMatchObject({ state: 'READY', pullRequest: { number: 7 } });
  });

  it('gives way to a trusted push of its commit', async () => {
    await using world = await withVariables();
    const ofBot = await world.changed('a1', { content: { bots: ['x[bot]'] } });

    const ours = await world.pushed('a1', topic);

    expect(await world.run(ofBot)).toMatchObject({ state: 'CANCELED', outcome: 'superseded' });
    expect(await world.run(ours)).toMatchObject({ state: 'READY' });
    expect(await world.run(ours)).not.toHaveProperty('isUntrusted');
    // And the other way round nothing new is made.
    expect(await world.change('a1', { content: { bots: ['x[bot]'] } })).toEqual([
      expect.stringContaining('already'),
    ]);
  });
});

it('opened for what a bot pushed last gets no secrets, though its last push did not concern the stack', async () => {
  await using world = await opened();
  await world.addStack({ projectRoot: 'infra' });
  const bot = { ...topic, login: 'robot[bot]', isBot: true };
  await world.push('a1', { ...bot, paths: ['infra/evil'] });
  await world.push('a2', { ...bot, paths: ['README.md'] });

  // By a reader, of a commit whose author is made up.
  const content = { changedPaths: ['infra/evil', 'README.md'] };
  const id = await world.changed('a2', { content });

  expect(await world.run(id)).toMatchObject({ commit: { hash: 'a2' }, isUntrusted: true });
  // A push of somebody who is trusted vouches for what is there.
  const vouched = await world.pushed('a3', { ...topic, paths: ['infra/good'] });
  expect((await world.run(vouched)).isUntrusted ?? false).toBe(false);
});
