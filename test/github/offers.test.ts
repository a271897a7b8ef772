import { describe, expect, test } from 'vitest';
import { parseOfferId } from '../../src/github/feedback/offers.ts';
import { openButtons } from './buttons-support.ts';
import { eventually } from './support.ts';

test.each([
  ['offer:stack-1:0a1b2c', { stackKey: 'stack-1', hash: '0a1b2c' }],
  ['offer:stack-1:', null],
  ['offer::0a1b2c', null],
  ['offer:stack-1:main', null],
  ['file:1', null],
  ['01J0000000000000000000RUN1', null],
  ['', null],
])('%s is the offer %o', (externalId, expected) => {
  expect(parseOfferId(externalId)).toEqual(expected);
});

describe('an offer', () => {
  test('says on its commit what was not done, with a button that a writer takes', async () => {
    await using all = await openButtons();
    const { github, hash, settled, allRuns } = all;
    const checkRun = await all.offered(hash);

    expect(checkRun).toMatchObject({
      name: 'slipway/network-prod',
      headSha: hash,
      conclusion: 'action_required',
      output: { title: 'Not deployed: GitHub did not tell of this push' },
      actions: [{ identifier: 'deploy', label: 'Deploy' }],
    });
    expect(checkRun.output?.summary).toContain('a is below the project root');
    const pressed = await github.pressButton(checkRun, 'deploy', 'bob');

    const [run] = await eventually(async () => {
      const runs = await allRuns();
      expect(runs).toHaveLength(1);
      return runs;
    });
    expect(run).toMatchObject({
      type: 'TRACKED',
      branch: 'main',
      triggeredBy: expect.stringContaining('bob'),
    });
    expect(run?.commit).toMatchObject({ hash, message: 'Two' });
    expect(await settled(pressed)).toEqual({ state: 'done', note: `deploy by bob: run ${run?.id}` });
    await eventually(() =>
      expect(github.checkRuns.find(({ id }) => id === checkRun.id)).toMatchObject({
        conclusion: 'neutral',
        actions: [],
      }),
    );
  });

  test('takes the path that concerns the stack for no markdown, and for no person', async () => {
    await using all = await openButtons();
    const path = 'a/@acme/everybody `\n\n# Paid for\n<img src="https://example.com/x.png">';

    const { output } = await all.offered(all.hash, `${path} is below the project root`);

    expect(output?.summary).toContain(
      '``a/@acme/everybody `\\n\\n# Paid for\\n<img src="https://example.com/x.png"> is below the project root``',
    );
  });

  test('makes one run, however often it is taken', async () => {
    await using all = await openButtons();
    const { github, hash, settled, allRuns } = all;
    const checkRun = await all.offered(hash);
    const first = await github.pressButton(checkRun, 'deploy', 'bob');
    await settled(first);

    const second = await github.pressButton(checkRun, 'deploy', 'ada');

    expect(await settled(second)).toEqual({
      state: 'done',
      note: 'deploy by ada: there is a run for this commit already',
    });
    expect(await allRuns()).toHaveLength(1);
  });

  test.each(['rita', 'mallory'])('is not taken by %s, who may not', async (login) => {
    await using all = await openButtons();
    const { github, hash, settled, allRuns } = all;

    const pressed = await github.pressButton(await all.offered(hash), 'deploy', login);

    expect(await settled(pressed)).toEqual({
      state: 'ignored',
      note: `${login} may not deploy: needs the role writer`,
    });
    expect(await allRuns()).toEqual([]);
  });

  test('is not taken once the branch is elsewhere, or a newer commit has run', async () => {
    await using all = await openButtons();
    const { github, infra, hash, settled } = all;
    const old = await all.offered(hash);
    const parent = await github.setBranch(infra, 'main', 'main~1');
    const gone = await settled(await github.pressButton(old, 'deploy', 'bob'));
    expect(gone).toEqual({ state: 'ignored', note: `${hash.slice(0, 7)} is not on main any more` });

    await github.setBranch(infra, 'main', hash);
    const { run } = await all.aRunThatIs('DISCARDED');
    const older = await settled(await github.pressButton(await all.offered(parent), 'deploy', 'bob'));
    expect(older).toEqual({
      state: 'ignored',
      note: `${parent.slice(0, 7)} is older than the commit of run ${run.id}`,
    });
  });

  test('of another repository, of a stack that is gone, and re-run by hand starts nothing', async () => {
    await using all = await openButtons();
    const { github, hash, settled, database, stacks, allRuns } = all;
    const checkRun = await all.offered(hash);
    const rerun = await settled(await github.rerequest(checkRun, 'bob'));
    expect(rerun).toEqual({ state: 'ignored', note: 'an offer is taken by its button' });

    await database.write((tx) => stacks.remove(tx, 'stack-1'));
    const gone = await settled(await github.pressButton(checkRun, 'deploy', 'bob'));

    expect(gone).toEqual({ state: 'ignored', note: 'the repository has no such stack' });
    expect(await allRuns()).toEqual([]);
  });

  test('ends when something else makes its run', async () => {
    await using all = await openButtons();
    const { hash, github } = all;
    const checkRun = await all.offered(hash);

    const { run } = await all.aRunThatIs('QUEUED');

    await eventually(() =>
      expect(github.checkRuns.find(({ id }) => id === checkRun.id)).toMatchObject({
        conclusion: 'neutral',
        output: { summary: `This commit has run ${run.id} by now.` },
      }),
    );
  });

  test('ends when a run of another commit is made, and when another commit is offered', async () => {
    await using all = await openButtons();
    const { hash, github, infra } = all;
    const first = await all.offered(hash);
    const newer = await github.commit(infra, { branch: 'main', message: 'Three', files: { a: '3' } });
    const shown = (id: number) => github.checkRuns.find((each) => each.id === id);

    const second = await all.offered(newer);
    await eventually(() =>
      expect(shown(first.id)).toMatchObject({
        conclusion: 'neutral',
        output: { summary: expect.stringContaining(`moved on to ${newer}`) },
        actions: [],
      }),
    );
    expect(shown(second.id)).toMatchObject({ conclusion: 'action_required' });
    const { run } = await all.aRunThatIs('QUEUED');

    await eventually(() =>
      expect(shown(second.id)).toMatchObject({
        conclusion: 'neutral',
        output: { summary: expect.stringContaining(`run ${run.id} of ${hash}`) },
        actions: [],
      }),
    );
    expect(shown(first.id)?.output?.summary).toContain(`moved on to ${newer}`);
  });
});
