import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Repository } from '../../demo/github/state.ts';
import { patience, program, type Scenario, startScenario, stash } from '../support/scenario.ts';
import { scenarioPolicies } from '../support/scenario-policies.ts';

let scenario: Scenario;
let policies: ReturnType<typeof scenarioPolicies>;
beforeAll(async () => {
  scenario = await startScenario();
  policies = scenarioPolicies(scenario.api);
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

const exceptDocs = `
track if {
	input.push.branch == input.stack.branch
	input.push.affected
}

propose if input.push.branch != input.stack.branch

ignore if {
	count(input.push.affected_files) > 0
	every file in input.push.affected_files {
		endswith(file, ".md")
	}
}`;

/** Pushes to main and gives what the inbox says of it. */
async function told(repository: Repository, files: Record<string, string>) {
  const pushed = await scenario.github.commitAndPush(repository, {
    ...{ branch: 'main', message: 'Change', files, pusher: 'ada' },
  });
  const look = async () =>
    (await scenario.api.expectSuccess('GET', `/api/v1/inbox/${pushed.deliveryId}`)).json as {
      state: string;
      note?: string;
    };
  await expect.poll(async () => (await look()).state, patience).not.toBe('pending');
  return { sha: pushed.sha, note: (await look()).note ?? '' };
}

test('a push policy decides which pushes make a run, and one that cannot be evaluated makes none', async () => {
  const { api, github } = scenario;
  const policy = await policies.add('PUSH', 'not-docs', exceptDocs);
  const { stack, repository, push } = await scenario.addStack('not-docs', {
    labels: ['not-docs'],
    autodeploy: true,
  });

  const first = await push(program(stash('one', '1')));
  expect(first.type).toBe('TRACKED');
  await api.waitForState(first.id, 'FINISHED');
  expect(await policies.ofRun(first.id)).toMatchObject([
    { policy: { name: 'not-docs' }, outcome: 'tracked' },
  ]);

  const docs = await told(repository, { 'README.md': 'hello again\n' });
  expect((await api.runsOf(stack)).map(({ id }) => id)).toEqual([first.id]);
  expect(docs.note).toContain('not-docs');
  expect(await policies.decisions(policy)).toMatchObject([{ outcome: 'ignored' }, { outcome: 'tracked' }]);

  const topic = await push(program(stash('one', '2')), { branch: 'topic' });
  expect(topic.type).toBe('PROPOSED');
  await api.waitForState(topic.id, 'FINISHED');

  await policies.change(policy, 'track if to_number(input.push.branch) > 1');
  const broken = await told(repository, { 'Pulumi.yaml': program(stash('one', '3')) });
  expect((await api.runsOf(stack)).map(({ id }) => id)).toEqual([topic.id, first.id]);
  const checkOf = () => github.checkRuns.findLast(({ headSha }) => headSha === broken.sha);
  await expect.poll(() => checkOf()?.conclusion, patience).toBe('failure');
  expect(checkOf()?.output?.summary).toContain('not-docs');
  expect(checkOf()?.output?.summary).toContain('to_number');
  expect((await policies.decisions(policy))[0]).toMatchObject({
    outcome: 'failed',
    failure: { code: 'builtin' },
  });
});
