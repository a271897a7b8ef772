/**
 * `kill -9` of the server while Terraform plans and applies, with the network of the runs open: what is left on the machine,
 * what the next life clears away, what it makes of the runs. Of Pulumi: kill.test.ts.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { waitFor } from '../../demo/wait.ts';
import { opentofu, terraform } from '../../src/vendors/terraform/flavour.ts';
import { type Scenario, startScenario } from '../support/scenario.ts';
import { isMissing } from '../vendors/contract/terraform.ts';
import { expectTold, familyOf, killGroup, timesIn, untilGone, workspacesOf } from './evidence.ts';

const flavours = [terraform, opentofu].filter((flavour) => !isMissing(flavour));
const patient = { timeoutMs: 120_000 };

/** The first plan reads a pipe that nobody writes to; the ones after it a file. */
const pipeOnce =
  'echo ran >> /state/planned; rm -f /state/value; if [ "$(wc -l < /state/planned)" -gt 1 ]; then echo now > /state/value; else mkfifo /state/value; fi';
const planning = 'resource "terraform_data" "one" {\n  input = file("/state/value")\n}\n';
/** The second resource takes for ever, the first time. */
const applying = `resource "terraform_data" "one" {
  input = "made"
}
resource "terraform_data" "two" {
  input = terraform_data.one.output
  provisioner "local-exec" {
    command = "echo ran >> /state/applied; [ $(wc -l < /state/applied) -gt 1 ] || sleep 600"
  }
}
`;

const socketsOf = ({ dataDir }: Scenario) =>
  readdirSync(join(dataDir, 'sandbox')).filter((name) => name.startsWith('proxy-'));

test.for(flavours)(
  'a server that is killed while $label works leaves nothing',
  {
    timeout: 360_000,
  },
  async (flavour) => {
    await using scenario = await startScenario();
    const { api, github, server } = scenario;
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8');

    async function start(name: string, text: string, hooks: Record<string, string[]>) {
      const vendor = { [flavour.name]: { stateUrl: 'file:///state' } };
      const added = await scenario.addStack(name, { vendor, autodeploy: true, hooks });
      const commit = { branch: 'main', message: 'Add it', files: { 'main.tf': text }, pusher: 'ada' };
      const { sha } = await github.commitAndPush(added.repository, commit);
      return { ...added, runId: (await api.waitForRun(added.stack, sha)).id };
    }
    const planned = await start('planned', planning, { beforePlan: [pipeOnce] });
    const applied = await start('applied', applying, {});
    const commands = () => familyOf(server.pid).map(({ command }) => command);
    const isPlanning = () => commands().some((command) => /^\S*(terraform|tofu) plan/.test(command));
    const isApplying = async () => (await timesIn(scenario, applied.repository, 'applied')) === 1;
    await waitFor('a plan that waits', isPlanning, patient);
    await waitFor('an apply that waits', isApplying, patient);
    expect(commands().filter((command) => command.includes('forwarder.cjs')).length).toBeGreaterThanOrEqual(
      2,
    );
    expect(socketsOf(scenario)).toHaveLength(2);

    const family = await killGroup(scenario);
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).toBe(mounts);
    await server.start();
    await untilGone(family);

    expect(await api.waitForState(planned.runId, 'FINISHED', patient.timeoutMs)).toMatchObject({
      delta: { added: 1 },
    });
    expect(await timesIn(scenario, planned.repository, 'planned')).toBe(2);
    expect(await api.waitForState(applied.runId, 'FAILED')).toMatchObject({
      ...{ outcome: 'worker_lost', note: 'worker lost while applying; check the real state' },
    });
    const { json } = await api.expectSuccess('GET', api.stackPath(applied.stack));
    expect(json).toMatchObject({ lock: { run: applied.runId } });
    await api.expectSuccess('DELETE', `${api.stackPath(applied.stack)}/lock`);
    // The lock of the state was the kernel's, and went with the process: nobody has to break it.
    const again = await api.act(applied.runId, 'retry');
    await api.waitForState(again.id, 'FINISHED', patient.timeoutMs);
    for (const id of [planned.runId, applied.runId, again.id]) await expectTold(scenario, id);

    await expect.poll(() => workspacesOf(scenario), { timeout: 30_000 }).toEqual([]);
    await expect.poll(() => socketsOf(scenario), { timeout: 30_000 }).toEqual([]);
  },
);

test.skipIf(!isMissing(terraform))('Terraform is not on this machine', () => {});
