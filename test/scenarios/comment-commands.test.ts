import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Repository } from '../../demo/github/state.ts';
import { patience, program, type Scenario, startScenario, stash } from '../support/scenario.ts';

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

/** What the one comment of ours says. */
const saidIn = (repository: Repository) =>
  scenario.github.comments.find(
    ({ issue, author }) => issue.repository === repository && author.type === 'Bot',
  )?.body ?? '';

async function outcomeOf(deliveryId: string): Promise<string> {
  const { json } = await scenario.api.expectSuccess('GET', `/api/v1/inbox/${deliveryId}`);
  const { state, note } = json as { state: string; note?: string };
  return `${state}: ${note ?? ''}`;
}

test('a pull request is promoted by comments: previewed, deployed, confirmed, applied; what nobody looked at is not', async () => {
  const { api, github } = scenario;
  const { stack, repository, push } = await scenario.addStack('promoted', { promotion: true });
  const first = await push(program(stash('one', '1')));
  await api.waitForState(first.id, 'UNCONFIRMED');
  await api.act(first.id, 'confirm');
  await api.waitForState(first.id, 'FINISHED');
  const pushTopic = (value: string) =>
    github.commitAndPush(repository, {
      ...{ branch: 'topic', message: `Two is ${value}`, pusher: 'bob' },
      files: { 'Pulumi.yaml': program(stash('one', '1'), stash('two', value)) },
    });
  const { sha } = await pushTopic('2');
  const { number } = await github.openPullRequest(repository, { head: 'topic', author: 'bob' });
  const preview = await api.waitForRun(stack, sha);
  await api.waitForState(preview.id, 'FINISHED');
  const say = async (body: string, login = 'bob') => {
    const said = await github.comment(repository, number, { body, login });
    await expect.poll(() => outcomeOf(said.deliveryId), patience).not.toMatch(/^pending/);
    return { ...said, outcome: await outcomeOf(said.deliveryId) };
  };

  const refused = await say('/slipway deploy', 'cleo');
  expect(refused.outcome).toBe('done: deploy by cleo: refused: needs the role writer, has reader');
  await expect.poll(() => refused.comment.reactions.map(({ content }) => content), patience).toEqual(['-1']);
  await expect.poll(() => saidIn(repository), patience).toContain('needs write access to the repository');

  const deploy = await say('/slipway deploy');
  const [, id = ''] = /^done: deploy by bob: promoted: TRACKED run (\w+)$/.exec(deploy.outcome) ?? [];
  await expect.poll(() => deploy.comment.reactions.map(({ content }) => content), patience).toEqual(['eyes']);
  const planned = await api.waitForState(id, 'UNCONFIRMED');
  expect(planned).toMatchObject({
    type: 'TRACKED',
    branch: 'topic',
    commit: { hash: sha },
    delta: { added: 1 },
  });
  // Nobody hears of this one until the pull request has got something else.
  github.setWebhook(null);
  const late = await github.comment(repository, number, { body: '/slipway deploy', login: 'bob' });
  github.setWebhook({ url: `${scenario.server.url}/api/github/webhooks`, secret: scenario.githubSecret });

  const confirm = await say('/slipway confirm');
  expect(confirm.outcome).toBe(`done: confirm by bob: promoted: run ${id} is CONFIRMED`);
  await api.waitForState(id, 'FINISHED');
  await expect
    .poll(() => saidIn(repository), patience)
    .toContain(`- \`promoted\`: the TRACKED run [CONFIRMED](${scenario.server.url}/runs/${id}).`);
  await scenario.expectWebhooksToTell(id);
  expect(await scenario.passedStates(id)).toContain('APPLYING');

  const later = await pushTopic('3');
  await api.waitForState((await api.waitForRun(stack, later.sha)).id, 'FINISHED');
  await github.redeliver(late.deliveryId);
  await expect
    .poll(() => outcomeOf(late.deliveryId), patience)
    .toBe('done: deploy by bob: promoted: refused: head-moved');
  await expect
    .poll(() => saidIn(repository), patience)
    .toContain(
      `The head is \`${later.sha.slice(0, 7)}\` now; what you can have looked at is \`${sha.slice(0, 7)}\``,
    );
  const tracked = (await api.runsOf(stack)).filter(({ type }) => type === 'TRACKED');
  expect(tracked.map((run) => run.id)).toEqual([id, first.id]);
});
