/** A provisioner of Terraform that tries everything at once: it runs on the way of an apply, inside of the tool. */
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { opentofu, terraform } from '../../src/vendors/terraform/flavour.ts';
import { patience, program, type Scenario, startScenario, stash } from '../support/scenario.ts';
import { isMissing } from '../vendors/contract/terraform.ts';
import { attackScript, proxyFunction } from './attack-script.ts';
import { expectTold, hostProcesses } from './evidence.ts';

const flavours = [terraform, opentofu].filter((flavour) => !isMissing(flavour));
const configuration = `resource "terraform_data" "attack" {
  provisioner "local-exec" {
    command = "bash attack.sh"
  }
}
`;

let scenario: Scenario;
let listenerPort = 0;
let hits = 0;
const listener = createServer((socket) => {
  hits += 1;
  socket.on('error', () => socket.destroy()).end('HTTP/1.1 200 OK\r\n\r\n');
});
beforeAll(async () => {
  await new Promise<void>((resolve) => listener.listen(0, '0.0.0.0', resolve));
  const address = listener.address();
  listenerPort = typeof address === 'object' && address !== null ? address.port : 0;
  scenario = await startScenario();
});
afterAll(async () => {
  await scenario?.[Symbol.asyncDispose]();
  await new Promise((resolve) => listener.close(resolve));
});

test.for(flavours)('a local-exec of $label gets nowhere', async (flavour) => {
  const { api, github, server, dataDir } = scenario;
  const mark = `8${process.pid}${flavour.name.length}${Date.now() % 10_000}`;
  const waiting = await (await scenario.addStack(`beside-${flavour.name}`)).push(program(stash('one', '1')));
  await api.waitForState(waiting.id, 'UNCONFIRMED');
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const attack = attackScript({
    ...{ dataDir, mark, listenerPort },
    ownAddress: own.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1',
    serverPid: server.pid,
    serverPort: Number(new URL(server.url).port),
    otherRun: waiting.id,
  });
  const vendor = { [flavour.name]: { stateUrl: 'file:///state' } };
  const { stack, repository } = await scenario.addStack(`attacker-${flavour.name}`, {
    vendor,
    autodeploy: true,
  });
  const files = { 'main.tf': configuration, 'attack.sh': proxyFunction + attack };
  const pushed = await github.commitAndPush(repository, {
    ...{ branch: 'main', message: 'Attack', files, pusher: 'ada' },
  });
  const { id } = await api.waitForRun(stack, pushed.sha);
  await api.waitForState(id, 'FINISHED', 120_000);

  const log = await api.log(id);
  expect(log.split('\n').filter((line) => /LEAK|no proxy|no answer/.test(line))).toEqual([]);
  expect(log).toContain('attack-over, 14 refusals');
  expect(hits).toBe(0);
  const outside = [
    dataDir,
    '/etc',
    '/usr',
    '/usr/local/bin',
    '/',
    '/opt',
    '/var',
    '/run',
    '/tmp',
    '/dev/shm',
  ];
  expect(outside.filter((path) => existsSync(join(path, mark)))).toEqual([]);
  const left = () => hostProcesses().filter(({ command }) => command.includes(mark));
  await expect.poll(left, patience).toEqual([]);
  expect(await api.run(waiting.id)).toMatchObject({ state: 'UNCONFIRMED' });
  await expectTold(scenario, id);
});

test.skipIf(!isMissing(terraform))('Terraform is not on this machine', () => {});
