/** What runs reach, from the settings of the server to the lines in their logs. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownAddress } from '../sandbox/harness.ts';
import { passphrase, program, type Scenario, startScenario, stash } from '../support/scenario.ts';

let website: Server;
let hits = 0;
let target = '';
let scenario: Scenario;
beforeAll(async () => {
  website = createServer((request, response) => {
    request.resume().once('end', () => {
      hits += 1;
      response.end('x'.repeat(5000));
    });
  });
  await new Promise<void>((resolve) => website.listen(0, '0.0.0.0', resolve));
  target = `${ownAddress}:${(website.address() as AddressInfo).port}`;
  scenario = await startScenario({
    settings: {
      SANDBOX_NETWORK: 'public',
      SANDBOX_ALLOWED_HOSTS: target,
      SANDBOX_UNTRUSTED_HOSTS: '*.example',
    },
  });
});
afterAll(async () => {
  await scenario?.[Symbol.asyncDispose]();
  website.close();
});

const asking = () => `curl -sS -o /dev/null -d ${'y'.repeat(2000)} http://${target}/ || true`;
const yaml = { 'Pulumi.yaml': program(stash('one', '1')) };

test.skipIf(ownAddress === undefined)(
  'a run says what its commands reached, and what was refused',
  async () => {
    const { api } = scenario;
    const beforeInit = [
      `${asking()}; ${asking()}`,
      'curl -sS -o /dev/null http://10.255.1.2/ http://169.254.169.254/',
      'echo quiet',
    ];
    const { push } = await scenario.addStack('reaching', { hooks: { beforeInit }, autodeploy: true });
    const run = await push(program(stash('one', '1')));
    await api.waitForState(run.id, 'FINISHED');
    const lines = (await api.log(run.id)).split('\n').filter((line) => line.startsWith('[network'));

    expect(hits).toBe(2);
    expect(lines).toEqual([
      expect.stringMatching(/^\[network: [\d.]+:\d+, 2 connections, 4\.\d kB out, 10\.\d kB in\]$/),
      '[network: 10.255.1.2:80 was refused: private address]',
      '[network: 169.254.169.254:80 was refused: metadata address]',
    ]);
  },
);

test.skipIf(ownAddress === undefined)('a run that is not trusted reaches a list of its own', async () => {
  const { api, github } = scenario;
  const { stack, repository } = await scenario.addStack('forked', {
    ...{ allowForks: true, hooks: { beforeInit: [asking()] } },
  });
  // A fork gets no secret; what everybody may know is no secret.
  await api.setVariable(stack, 'PULUMI_CONFIG_PASSPHRASE', { value: passphrase, secret: false });
  hits = 0;
  github.addUser({ login: 'mallory', name: 'Mallory', email: 'mallory@example.com' });
  const fork = await github.addRepository({ owner: 'mallory', name: 'forked', forkOf: repository });
  const sha = await github.commit(fork, { branch: 'main', message: 'Evil', files: yaml });
  const opening = { head: 'main', headRepository: fork, author: 'mallory' };
  await github.openPullRequest(repository, opening);
  const { id } = await api.waitForRun(stack, sha);
  await api.waitForState(id, 'FINISHED');
  const lines = (await api.log(id)).split('\n').filter((line) => line.startsWith('[network'));

  expect(hits).toBe(0);
  expect(lines).toEqual([
    '[network: this run is not trusted and may reach *.example only (SANDBOX_UNTRUSTED_HOSTS)]',
    `[network: ${target} was refused: not on the allow-list]`,
  ]);
});
