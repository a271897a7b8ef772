/** A provisioner of Terraform that tries everything at once: it runs on the way of an apply, inside of the tool. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { opentofu, terraform } from '../../src/vendors/terraform/flavour.ts';
import { patience, program, type Scenario, startScenario, stash } from '../support/scenario.ts';
import { isMissing } from '../vendors/contract/terraform.ts';
import { attackScript, proxyFunction } from './attack-script.ts';
import { addressOfMachine, type Bait, breaches, filesLeft, startBait } from './bait.ts';
import { expectTold, hostProcesses } from './evidence.ts';

const flavours = [terraform, opentofu].filter((flavour) => !isMissing(flavour));
const configuration = `resource "terraform_data" "attack" {
  provisioner "local-exec" {
    command = "bash attack.sh"
  }
}
`;

let scenario: Scenario;
let bait: Bait;
beforeAll(async () => {
  bait = await startBait();
  scenario = await startScenario();
});
afterAll(async () => {
  await scenario?.[Symbol.asyncDispose]();
  await bait?.[Symbol.asyncDispose]();
});

test.for(flavours)('a local-exec of $label gets nowhere', async (flavour) => {
  const { api, github, server, dataDir } = scenario;
  const mark = `8${process.pid}${flavour.name.length}${Date.now() % 10_000}`;
  const waiting = await (await scenario.addStack(`beside-${flavour.name}`)).push(program(stash('one', '1')));
  await api.waitForState(waiting.id, 'UNCONFIRMED');
  const attack = attackScript({
    ...{ dataDir, mark, listenerPort: bait.port, ownAddress: addressOfMachine() },
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
  expect(breaches(log)).toEqual([]);
  expect(log).toContain('attack-over, 14 refusals');
  expect(bait.hits()).toBe(0);
  expect(filesLeft(mark, dataDir)).toEqual([]);
  const left = () => hostProcesses().filter(({ command }) => command.includes(mark));
  await expect.poll(left, patience).toEqual([]);
  expect(await api.run(waiting.id)).toMatchObject({ state: 'UNCONFIRMED' });
  await expectTold(scenario, id);
});

test.skipIf(!isMissing(terraform))('Terraform is not on this machine', () => {});
