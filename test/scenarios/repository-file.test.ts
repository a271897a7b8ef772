import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CheckRun } from '../../demo/github/check-run.ts';
import type { Repository } from '../../demo/github/state.ts';
import { waitFor } from '../../demo/wait.ts';
import { patience, program, type Scenario, startScenario, stash } from '../support/scenario.ts';

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

const path = '.github/slipway.yml';
const fileOf = (...entries: readonly string[]) => `version: 1\nstacks:\n${entries.join('')}`;
const entry = (name: string, more = '') => `  - name: ${name}
    project_root: ${name}
    vendor:
      pulumi: { login_url: "file:///state", stack_name: ${name} }
    hooks:
      before_plan: ['echo "the level is $LOG_LEVEL"']
    environment: { LOG_LEVEL: info, PULUMI_CONFIG_PASSPHRASE: "only a test" }
${more}`;

/** A repository with two programs and no file yet. */
async function addRepository(name: string, ...roots: readonly string[]) {
  const { github } = scenario;
  const programs = roots.map((root) => [`${root}/Pulumi.yaml`, program(stash('one', '1'))]);
  const repository = await scenario.addRepository(name, Object.fromEntries(programs));
  const push = (content: string | null, branch = 'main') =>
    github.commitAndPush(repository, { branch, message: 'Change the file', files: { [path]: content } });
  return { repository, push };
}

const stackAt = (id: string) => `/api/v1/stacks/acme/${id}`;

async function stackNow(id: string) {
  const { status, json } = await scenario.api.request('GET', stackAt(id));
  return status === 404
    ? null
    : (json as { autodeploy: boolean; managedBy: string | null; description: string });
}

function fileCheck({ id }: Repository, sha: string): Promise<CheckRun> {
  const isIt = (each: CheckRun) => each.repository.id === id && each.headSha === sha && each.name === path;
  return waitFor('the check of the file', () => scenario.github.checkRuns.find(isIt), { timeoutMs: 20_000 });
}

test('a push that adds the file makes its stacks and starts them; the file decides until it lets go', async () => {
  const { api } = scenario;
  const { repository, push } = await addRepository('managed', 'net', 'dns');

  const added = await push(fileOf(entry('net'), entry('dns')));
  const check = await fileCheck(repository, added.sha);
  expect(check).toMatchObject({ conclusion: 'success', output: { title: '2 stacks, 2 created' } });
  for (const name of ['net', 'dns']) {
    const run = await api.waitForRun({ account: 'acme', id: name, name }, added.sha);
    expect(run.type).toBe('TRACKED');
    await api.waitForState(run.id, 'UNCONFIRMED');
    expect(await api.log(run.id, 'planning')).toContain('the level is info');
  }

  for (const [method, body] of [['PATCH', { autodeploy: true }], ['DELETE']] as const) {
    expect(await api.request(method, stackAt('net'), body)).toMatchObject({
      status: 409,
      json: { code: 'managed-by-file', hint: expect.stringContaining('on the branch main') },
    });
  }
  const variables = `${stackAt('net')}/environment`;
  const plain = { value: 'debug', secret: false };
  expect((await api.request('PUT', `${variables}/LOG_LEVEL`, plain)).status).toBe(409);
  expect((await api.request('PUT', `${variables}/API_KEY`, { value: 'a secret' })).status).toBe(204);

  const broken = await push(
    fileOf(entry('net', '    autodeploy: maybe\n'), entry('dns', '    descripton: x\n')),
  );
  expect(await fileCheck(repository, broken.sha)).toMatchObject({
    conclusion: 'failure',
    output: { title: '2 problems: the file is not in force' },
    annotations: [
      { path, start_line: 10, message: 'autodeploy must be true or false' },
      { path, start_line: 18, message: 'unknown key descripton; did you mean description?' },
    ],
  });
  expect(await stackNow('net')).toMatchObject({ autodeploy: false, managedBy: 'file' });

  const fixed = await push(fileOf(entry('net', '    autodeploy: true\n')));
  expect(await fileCheck(repository, fixed.sha)).toMatchObject({
    ...{ conclusion: 'success', annotations: [], output: { title: '1 stack, 1 changed, 1 released' } },
  });
  expect(await stackNow('net')).toMatchObject({ autodeploy: true, managedBy: 'file' });
  expect(await stackNow('dns')).toMatchObject({ managedBy: null });
  expect((await api.request('PATCH', stackAt('dns'), { description: 'free' })).status).toBe(200);
  expect(await stackNow('dns')).toMatchObject({ description: 'free' });
});

test('a push whose file could not be read yet lets none pass that would not start what it brings', async () => {
  const { api, github } = scenario;
  const { repository, push } = await addRepository('patient', 'first');
  const wasAsked = (path: string) => () => github.requests.some((each) => each.path === path);
  // The look at a new repository, which finds nothing.
  await expect.poll(wasAsked('/repos/acme/patient/contents/.github'), patience).toBe(true);
  github.failNext({ pathPattern: /^\/repos\/acme\/patient\/branches\/main$/, status: 502 });
  const earlier = await push(fileOf(entry('first')));
  await expect.poll(wasAsked('/repos/acme/patient/branches/main'), patience).toBe(true);
  const files = { 'README.md': 'hello' };
  const later = await github.commitAndPush(repository, { branch: 'main', message: 'Other', files });

  await expect.poll(() => stackNow('first'), patience).not.toBeNull();
  const run = await api.waitForRun({ account: 'acme', id: 'first', name: 'first' }, later.sha);
  await api.waitForState(run.id, 'UNCONFIRMED');
  const isHandled = () => api.request('GET', `/api/v1/inbox/${earlier.deliveryId}`);
  await expect.poll(isHandled, patience).toMatchObject({ json: { state: 'done' } });
  expect((await api.request('GET', `${stackAt('first')}/runs`)).json).toMatchObject({
    items: [{ id: run.id, type: 'TRACKED' }],
  });
});

test('a name of another repository and a file on another branch change nothing', async () => {
  const owner = await addRepository('owner', 'shared');
  await fileCheck(owner.repository, (await owner.push(fileOf(entry('shared')))).sha);
  const { repository, push } = await addRepository('taker', 'shared', 'own');

  const taken = await push(fileOf(entry('own'), entry('shared')));

  expect(await fileCheck(repository, taken.sha)).toMatchObject({
    conclusion: 'failure',
    annotations: [
      {
        start_line: 10,
        message: 'the stack shared belongs to another repository of the account; choose another name',
      },
    ],
  });
  expect(await stackNow('own')).toBeNull();
  await push(fileOf(entry('own')), 'topic');
  const good = await push(fileOf(entry('elsewhere')));
  expect((await fileCheck(repository, good.sha)).conclusion).toBe('success');
  expect(await stackNow('own')).toBeNull();
});

test('what changed while the server was down is found at its start', async () => {
  const { server, github } = scenario;
  const { repository, push } = await addRepository('asleep', 'late', 'later');
  await fileCheck(repository, (await push(fileOf(entry('late')))).sha);
  await server.stop();
  const files = { [path]: fileOf(entry('late'), entry('later')) };
  const sha = await github.commit(repository, { branch: 'main', message: 'While it slept', files });

  await server.start();

  await expect.poll(() => stackNow('later'), patience).toMatchObject({ managedBy: 'file' });
  expect(await fileCheck(repository, sha)).toMatchObject({ output: { title: '2 stacks, 1 created' } });
});
