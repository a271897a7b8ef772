import { describe, expect, test } from 'vitest';
import type { Repository } from '../../demo/github/state.ts';
import type { CheckRunBody } from '../../src/github/feedback/check-run.ts';
import { createFileSweep } from '../../src/github/repository-file/file-sweep.ts';
import { startReceiving } from './receiving.ts';
import { eventually, silent } from './support.ts';

const path = '.github/slipway.yml';
const entry = (name: string, more = '') =>
  `  - name: ${name}\n    vendor: { pulumi: { login_url: "file:///state", stack_name: ${name} } }\n${more}`;
const fileOf = (...entries: string[]) => `version: 1\nstacks:\n${entries.join('')}`;

async function open(files: Record<string, string> = { 'README.md': 'hello' }) {
  const all = await startReceiving();
  const { github, inboxStore, stacks, outbox, database, repositoryFiles } = all;
  const repository = await github.addRepository({ owner: 'acme', name: 'infra', files });
  await eventually(async () => expect(await all.store.find(repository.id)).not.toBeNull());
  const pushed = async (what: Omit<Parameters<typeof github.commitAndPush>[1], 'message'>) => {
    const sent = await github.commitAndPush(repository, { message: 'Change', ...what });
    await eventually(async () => expect((await inboxStore.find(sent.deliveryId))?.state).toBe('done'));
    return { ...sent, note: (await inboxStore.find(sent.deliveryId))?.note ?? '' };
  };
  return {
    ...all,
    repository,
    pushed,
    push: (content: string | null, branch = 'main') => pushed({ branch, files: { [path]: content } }),
    stackIds: async () =>
      (await stacks.ofRepository(repository.id)).map(({ id, managedBy }) => `${id} ${managedBy ?? 'free'}`),
    judged: () => repositoryFiles.find(repository.id),
    /** What GitHub is to show; null when it has it, or there is nothing. */
    async wanted() {
      const due = await outbox.due(9e15, []);
      if (!due) return null;
      await database.write((tx) => outbox.sent(tx, due.id, due.version, 1));
      return due.desired as CheckRunBody;
    },
    /** Only what is asked about the file, in order. */
    reads: () =>
      github.requests
        .filter(({ path: asked }) => asked.startsWith('/repos/acme/infra') && !asked.includes('installation'))
        .map(({ path: asked }) => asked.replace(/[0-9a-f]{40}/g, '<sha>')),
    [Symbol.asyncDispose]: () => all[Symbol.asyncDispose](),
  };
}

describe('the repository file', () => {
  test('is applied before the push that brings it starts runs, and shown on its commit', async () => {
    await using all = await open();

    const { sha, note } = await all.push(fileOf(entry('network'), entry('dns')));

    expect(await all.stackIds()).toEqual(['dns file', 'network file']);
    expect(note).toMatch(/^\.github\/slipway\.yml: 2 stacks, 2 created; network: TRACKED run 1/);
    expect(all.pushes[0]?.push.newStacks).toEqual(['dns', 'network']);
    expect(await all.wanted()).toMatchObject({
      ...{ name: path, head_sha: sha, status: 'completed', conclusion: 'success', actions: [] },
      details_url: `${all.github.url}/acme/infra/blob/${sha}/${path}`,
      output: { title: '2 stacks, 2 created', summary: 'Created: network, dns' },
    });
  });

  test('is asked for only when a push may have changed it', async () => {
    await using all = await open({ [path]: fileOf(entry('network')) });
    await all.pushed({ branch: 'main', files: { a: '1' } });
    await all.pushed({ branch: 'topic', files: { [path]: fileOf(entry('dns')) } });
    expect(all.reads()).toEqual([]);

    await all.github.forcePush(all.repository, { branch: 'main', onto: 'main~1' });
    await eventually(() => expect(all.pushes).toHaveLength(3));

    expect(all.reads()).toEqual([
      '/repos/acme/infra',
      '/repos/acme/infra/branches/main',
      '/repos/acme/infra/contents/.github',
      '/repos/acme/infra/git/blobs/<sha>',
    ]);
    expect(await all.stackIds()).toEqual(['network file']);
  });

  test('on another branch says nothing', async () => {
    await using all = await open();
    await all.push(fileOf(entry('network')), 'topic');
    await all.push('not: [valid', 'topic');

    expect(await all.stackIds()).toEqual([]);
    expect(await all.wanted()).toBeNull();
    expect(all.pushes).toHaveLength(2);
  });

  test('that is wrong changes nothing, is shown with its lines on each head, and hinders no run', async () => {
    await using all = await open();
    await all.push(fileOf(entry('network')));
    await all.wanted();

    const broken = await all.push(fileOf(entry('network', '    autodeploy: maybe\n    lables: [a]\n')));

    expect(await all.wanted()).toMatchObject({
      ...{ head_sha: broken.sha, conclusion: 'failure' },
      output: {
        title: '2 problems: the file is not in force',
        annotations: [
          { path, start_line: 5, end_line: 5, start_column: 17, message: 'autodeploy must be true or false' },
          { start_line: 6, message: 'unknown key lables; did you mean labels?' },
        ],
      },
    });
    expect(await all.stackIds()).toEqual(['network file']);
    expect(all.pushes).toHaveLength(2);

    const other = await all.pushed({ branch: 'main', files: { a: '1' } });
    expect(await all.wanted()).toMatchObject({ head_sha: other.sha, conclusion: 'failure' });
    const good = await all.push(fileOf(entry('network', '    autodeploy: true\n')));
    expect(await all.wanted()).toMatchObject({
      ...{ head_sha: good.sha, conclusion: 'success', output: { title: '1 stack, 1 changed' } },
    });
    await all.pushed({ branch: 'main', files: { a: '2' } });
    expect(await all.wanted()).toBeNull();
  });

  test('that loses an entry releases the stack; that goes away releases all', async () => {
    await using all = await open();
    await all.push(fileOf(entry('network'), entry('dns')));
    await all.wanted();

    await all.push(fileOf(entry('network')));
    expect(await all.stackIds()).toEqual(['dns free', 'network file']);
    expect((await all.wanted())?.output.title).toBe('1 stack, 1 released');

    const { sha } = await all.push(null);
    expect(await all.stackIds()).toEqual(['dns free', 'network free']);
    expect(await all.wanted()).toMatchObject({
      ...{ head_sha: sha, conclusion: 'success', output: { title: 'The file is gone: 1 stack released' } },
    });
    expect(await all.judged()).toBeNull();
  });

  test('may not take a stack of another repository, and gets it once that one lets go', async () => {
    await using all = await open();
    const shop = await all.github.addRepository({ owner: 'acme', name: 'shop', files: { a: '1' } });
    const ofShop = { branch: 'main', message: 'One', files: { [path]: fileOf(entry('network')) } };
    await all.github.commitAndPush(shop, ofShop);
    await eventually(async () => expect(await all.stacks.ofRepository(shop.id)).toHaveLength(1));
    await all.wanted();

    await all.push(fileOf(entry('dns'), entry('network')));

    const check = await all.wanted();
    expect(check).toMatchObject({ conclusion: 'failure', output: { annotations: [{ start_line: 5 }] } });
    expect(JSON.stringify(check)).not.toContain('shop');
    expect(await all.stackIds()).toEqual([]);

    const [theirs] = await all.stacks.ofRepository(shop.id);
    await all.database.write((tx) => all.stacks.remove(tx, theirs?.key ?? ''));
    const { sha } = await all.pushed({ branch: 'main', files: { a: '2' } });
    expect((await all.wanted())?.conclusion).toBe('success');
    expect(await all.stackIds()).toEqual(['dns file', 'network file']);
    expect(all.pushes.at(-1)?.push).toMatchObject({
      ...{ newStacks: ['dns', 'network'], headNow: { hash: sha } },
    });
  });

  test.each([
    [
      'a symbolic link',
      { symlinks: { [path]: 'other.yml' } },
      'slipway.yml is a symbolic link; only a plain file is read',
    ],
    [
      'a directory',
      { files: { [`${path}/a`]: 'x' } },
      'slipway.yml is a directory; only a plain file is read',
    ],
    [
      'a submodule',
      { submodules: { [path]: 'c'.repeat(40) } },
      'slipway.yml is a submodule; only a plain file is read',
    ],
    [
      'called otherwise',
      { files: { '.github/slipway.yaml': fileOf(entry('network')) } },
      'the file must be called .github/slipway.yml',
    ],
    [
      'too large',
      { files: { [path]: '#'.repeat(200_000) } },
      'the file has 200000 bytes; 131072 are the most that is read',
    ],
  ])('that is %s is a problem', async (_what, change, message) => {
    await using all = await open({
      ...{ '.github/other.yml': fileOf(entry('network')) },
    });

    await all.pushed({ branch: 'main', files: {}, ...change });

    expect((await all.wanted())?.output.annotations?.map((each) => each.message)).toEqual([message]);
    expect(await all.stackIds()).toEqual([]);
  });

  test.each([
    ['a symbolic link', { symlinks: { '.github': 'elsewhere' } }],
    ['a submodule', { submodules: { '.github': 'c'.repeat(40) } }],
  ])('below %s is a problem of repositories that had one, and of no other', async (what, change) => {
    await using all = await open({
      '.github/ci.yml': 'x',
      'elsewhere/slipway.yml': fileOf(entry('network')),
    });
    const hidden = { branch: 'main', ...change, files: { [path]: null, '.github/ci.yml': null } };
    expect((await all.pushed(hidden)).note).toMatch(/^\.github\/slipway\.yml: there is none/);
    await all.files.lookAgain(all.repository.id);
    expect(await all.wanted()).toBeNull();
    expect(await all.judged()).toBeNull();

    await using other = await open({ '.github/ci.yml': 'x' });
    await other.push(fileOf(entry('network')));
    await other.wanted();
    await other.pushed(hidden);

    expect((await other.wanted())?.output.annotations?.map((each) => each.message)).toEqual([
      `.github is ${what}; only a plain file is read`,
    ]);
    expect(await other.stackIds()).toEqual(['network file']);
  });

  test('releases nothing because GitHub says once that there is none, or no such branch', async () => {
    await using all = await open();
    await all.push(fileOf(entry('network')));
    await all.wanted();
    all.github.failNext({ pathPattern: /\/contents\/\.github$/, status: 404 });
    await expect(all.files.refresh(all.repository.id)).rejects.toMatchObject({ code: 'github-unavailable' });
    all.github.failNext({ pathPattern: /\/contents\/\.github$/, status: 404 });
    all.github.failNext({ pathPattern: /\/git\/trees\//, status: 404 });
    await expect(all.files.refresh(all.repository.id)).rejects.toMatchObject({ code: 'github-unavailable' });
    all.github.failNext({ pathPattern: /\/branches\/main$/, status: 404 });
    expect(await all.files.refresh(all.repository.id)).toBe('there is no branch main');
    expect(await all.repositoryFiles.isUnread(all.repository.id)).toBe(true);

    expect(await all.stackIds()).toEqual(['network file']);
    expect(await all.wanted()).toBeNull();
    expect(await all.files.refresh(all.repository.id)).toBe('nothing new');
    expect(await all.repositoryFiles.isUnread(all.repository.id)).toBe(false);

    await all.pushed({ branch: 'main', files: { [path]: null, '.github': 'a file' } });
    expect(await all.stackIds()).toEqual(['network free']);
  });

  test('that could not be read yet is read before any later push, which then starts what it brings', async () => {
    await using all = await open();
    const { github, repository } = all;
    github.failNext({ pathPattern: /\/branches\/main$/, status: 502, times: 2 });
    const change = (files: Record<string, string>) => ({ branch: 'main', message: 'x', files });
    const waits = async (id: string) =>
      expect(await all.inboxStore.find(id)).toMatchObject({ state: 'pending', attempts: 1 });
    const first = await github.commitAndPush(repository, change({ [path]: fileOf(entry('network')) }));
    await eventually(() => waits(first.deliveryId));
    const second = await github.commitAndPush(repository, change({ docs: '1' }));
    await eventually(() => waits(second.deliveryId));
    expect(all.pushes).toEqual([]);

    const third = await all.pushed({ branch: 'main', files: { docs: '2' } });
    expect(all.pushes.map(({ push }) => push)).toMatchObject([
      { head: { hash: third.sha }, headNow: { hash: third.sha }, newStacks: ['network'] },
    ]);

    all.clock.ms += 2000;
    all.worker.wake();
    await eventually(() => expect(all.pushes).toHaveLength(3));
    const late = Object.fromEntries(all.pushes.slice(1).map(({ push }) => [push.head.hash, push]));
    expect(late[first.sha]).toMatchObject({ newStacks: ['network'], headNow: { hash: third.sha } });
    expect(late[second.sha]).not.toHaveProperty('newStacks');
  });

  test('that came into force late is told with where the branch is now', async () => {
    await using all = await open();
    const { github, repository } = all;
    github.setWebhook(null);
    const change = (files: Record<string, string>) => ({ branch: 'main', message: 'x', files });
    await github.commitAndPush(repository, change({ [path]: fileOf(entry('network')) }));
    const newest = await github.commit(repository, change({ docs: '1' }));

    const before = await all.files.beforePush({
      ...{ repositoryId: repository.id, branch: 'main', changedPaths: [path] },
    });

    expect(before).toMatchObject({ newStacks: ['network'], headNow: { hash: newest, message: 'x' } });
  });

  test.each(['/repos/acme/infra', '/branches/main', '/contents/', '/git/blobs/'])(
    'holds the push back until GitHub answers %s',
    async (failing) => {
      await using all = await open();
      all.github.failNext({ pathPattern: new RegExp(`${failing}([^/]*)$`), status: 502 });
      const content = { [path]: fileOf(entry('network')) };
      const sent = await all.github.commitAndPush(all.repository, {
        branch: 'main',
        message: 'x',
        files: content,
      });
      await eventually(async () =>
        expect(await all.inboxStore.find(sent.deliveryId)).toMatchObject({
          ...{ state: 'pending', attempts: 1 },
          note: expect.stringContaining(
            'github-unavailable: GitHub could not be asked for .github/slipway.yml',
          ),
        }),
      );
      expect(all.pushes).toEqual([]);
      expect(await all.stackIds()).toEqual([]);

      all.clock.ms += 2000;
      all.worker.wake();
      await eventually(() => expect(all.pushes).toHaveLength(1));
      expect(await all.stackIds()).toEqual(['network file']);
    },
  );

  test('is the newest one, whatever push is handled last', async () => {
    await using all = await open();
    const { github, repository } = all;
    github.setWebhook(null);
    const first = {
      branch: 'main',
      message: 'One',
      files: { [path]: fileOf(entry('network'), entry('old')) },
    };
    await github.commitAndPush(repository, first);
    await github.commit(repository, {
      ...first,
      message: 'Two',
      files: { [path]: fileOf(entry('network')) },
    });

    const [one, two] = [await all.files.refresh(repository.id), await all.files.refresh(repository.id)];

    expect([one, two]).toEqual(['1 stack, 1 created', 'nothing new']);
    expect(await all.stackIds()).toEqual(['network file']);
    const both = await Promise.all([all.files.refresh(repository.id), all.files.refresh(repository.id)]);
    expect(both).toEqual(['nothing new', 'nothing new']);
  });

  test('names a stack as new until it has run, so that a push that is handled again starts it too', async () => {
    await using all = await open();
    await all.push(fileOf(entry('network')));
    await all.push(fileOf(entry('network'), entry('dns')));
    expect(all.pushes.map(({ push }) => push.newStacks)).toEqual([['network'], ['dns', 'network']]);

    await all.pushed({ branch: 'main', files: { a: '1' } });
    expect(all.pushes[2]?.push.newStacks).toBeUndefined();
  });
});

describe('the repository file is looked at', () => {
  test('when the default branch changes', async () => {
    await using all = await open({ [path]: fileOf(entry('network')) });
    await all.files.refresh(all.repository.id);
    await all.github.commit(all.repository, {
      branch: 'next',
      message: 'x',
      files: { [path]: fileOf(entry('dns')) },
    });

    await all.github.setDefaultBranch(all.repository, 'next');

    await eventually(async () => expect(await all.stackIds()).toEqual(['dns file', 'network free']));
    expect((await all.store.find(all.repository.id))?.defaultBranch).toBe('next');
    expect((await all.stacks.ofRepository(all.repository.id))[0]?.settings.branch).toBe('next');
  });

  test('when somebody asks for its check again, which is then shown again', async () => {
    await using all = await open();
    await all.push(fileOf(entry('network')));
    const first = await all.wanted();
    const outcome = await all.handle({
      ...{ id: 'again', event: 'check_run', attempt: 1, lane: '', receivedAtMs: all.clock.nowMs() },
      body: Buffer.from(JSON.stringify(rerequest(all, first?.external_id ?? ''))),
    });

    expect(outcome).toEqual({ state: 'done', note: '1 stack' });
    const second = await all.wanted();
    expect(second?.external_id).toMatch(/^file:/);
    expect(second?.external_id).not.toBe(first?.external_id);
  });

  test('in the sweep: with one question where there is none, and never twice', async () => {
    await using all = await open({ [path]: fileOf(entry('network')) });
    const empty = await all.github.addRepository({ owner: 'acme', name: 'empty' });
    await eventually(async () => expect(await all.store.find(empty.id)).not.toBeNull());
    const sweep = createFileSweep({
      files: all.files,
      repositories: all.store,
      budget: all.budget,
      clock: all.clock,
      logger: silent,
    });
    const askedOf = (name: string) =>
      all.github.requests.filter((each) => each.path.startsWith(`/repos/acme/${name}`));
    all.github.failNext({ pathPattern: /contents/, status: 503 });

    sweep.add([all.repository.id, empty.id, 999]);
    sweep.start();

    await eventually(() => expect(askedOf('empty')).toHaveLength(1));
    expect(await all.stackIds()).toEqual([]);
    all.clock.ms += 60_000;
    sweep.wake();
    await eventually(async () => expect(await all.stackIds()).toEqual(['network file']));
    await sweep[Symbol.asyncDispose]();
    expect(askedOf('empty')).toHaveLength(1);
    expect((await all.wanted())?.output.title).toBe('1 stack, 1 created');
  });

  test('but not in a repository that took the name of another', async () => {
    await using all = await open({ [path]: fileOf(entry('network')) });
    await all.github.renameRepository(all.repository, 'former');
    await all.github.addRepository({
      owner: 'acme',
      name: 'infra',
      files: { [path]: fileOf(entry('foreign')) },
    });
    const known = await all.store.find(all.repository.id);
    if (!known) throw new Error('the repository is gone');
    await all.database.write((tx) => all.store.saveRepository(tx, { ...known, fullName: 'acme/infra' }));

    expect(await all.files.refresh(all.repository.id)).toBe('the App does not see the repository');
    expect(await all.stackIds()).toEqual([]);
  });
});

function rerequest(
  {
    github,
    installation,
    repository,
  }: { github: { app: { id: number } }; installation: { id: number }; repository: Repository },
  externalId: string,
) {
  return {
    action: 'rerequested',
    check_run: { id: 1, external_id: externalId, app: { id: github.app.id } },
    sender: { id: 5, login: 'ada', type: 'User' },
    repository: {
      ...{ id: repository.id, full_name: repository.fullName, private: true, default_branch: 'main' },
      owner: { id: repository.owner.id, login: 'acme' },
    },
    installation: { id: installation.id },
  };
}
