/**
 * What the demo tells: one repository with two stacks of Pulumi, four pushes, and one of Terraform where that is installed. A push is planned and waits for a person; with
 * autodeploy it goes through by itself; a push that changes nothing is not applied; one that deletes is denied by a policy.
 */
import type { StackObject } from './api-objects.ts';
import type { Installation } from './installation.ts';
import { type Narrator, seconds } from './narrator.ts';
import {
  type Files,
  firstVersion,
  secondVersion,
  terraformProgram,
  thirdVersion,
  withoutService,
} from './programs.ts';
import { playRun, type ToldRun } from './run-of-story.ts';

export interface Told {
  readonly runs: readonly ToldRun[];
  /** In words, what did not happen as told. */
  readonly missing: readonly string[];
  readonly passphrase: string;
}

const planned = ['QUEUED', 'READY', 'PREPARING', 'INITIALIZING', 'PLANNING'];
const confirmed = [...planned, 'UNCONFIRMED', 'CONFIRMED', 'PREPARING_APPLY', 'APPLYING', 'FINISHED'];
const autodeployed = [...planned, 'APPLYING', 'FINISHED'];
const unchanged = [...planned, 'FINISHED'];
const denied = [...planned, 'FAILED'];

/** Only for deployments: whoever tries a DESTROY run afterwards means it. */
const noDeletes = `package slipway

deny contains sprintf("%s would be deleted", [step.urn]) if {
	input.slipway.run.type == "TRACKED"
	some step in input.pulumi.steps
	step.op == "delete"
}
`;

export async function tellStory(
  installation: Installation,
  narrator: Narrator,
  signal: AbortSignal,
): Promise<Told> {
  const { api, github } = installation;
  const runs: ToldRun[] = [];
  const missing: string[] = [];
  const passphrase = `demo-passphrase-${crypto.randomUUID()}`;
  const repository = await installation.addRepository('infra', { 'README.md': '# infra\n' });
  let stacks = [
    await addStack('yaml', {}),
    await addStack('javascript', { hooks: { beforeInit: ['npm ci'] } }),
  ];

  async function addStack(name: string, more: Record<string, unknown>): Promise<StackObject> {
    const stack = await api.createStack({
      name,
      repository: repository.fullName,
      projectRoot: name,
      vendor: { pulumi: { loginUrl: `file:///state/${name}`, stackName: 'demo' } },
      ...more,
    });
    await api.setVariable(stack, 'PULUMI_CONFIG_PASSPHRASE', { value: passphrase, secret: true });
    const { url, secret } = installation.receiver;
    await api.addWebhook(stack, { endpoint: `${url}/hooks/${name}`, secret });
    return stack;
  }

  async function addTerraform(tool: string): Promise<StackObject> {
    const stack = await api.createStack({
      ...{ name: 'terraform', repository: repository.fullName, projectRoot: 'terraform' },
      vendor: { [tool]: { stateUrl: 'file:///state/terraform' } },
    });
    const { url, secret } = installation.receiver;
    await api.addWebhook(stack, { endpoint: `${url}/hooks/terraform`, secret });
    narrator.event(stack.id, 'setting', `run with ${tool}, its state kept by Slipway`);
    return stack;
  }

  async function push(message: string, files: Files): Promise<string> {
    const startedAtMs = Date.now();
    const { sha, status } = await github.commitAndPush(repository, { branch: 'main', message, files });
    const answer = `answered ${status} after ${seconds(Date.now() - startedAtMs)}`;
    narrator.event('', 'push', `${sha.slice(0, 7)} "${message}" to main, ${answer}`);
    return sha;
  }

  /** Lets every stack play its part; one that fails has told its last. */
  async function everyStack(sha: string, expected: readonly string[]): Promise<void> {
    const parts = stacks.map(async (stack) => {
      try {
        await playRun(installation, narrator, stack, sha, expected, (run) => runs.push(run));
        return stack;
      } catch (error) {
        signal.throwIfAborted();
        const text = error instanceof Error ? error.message : String(error);
        narrator.event(stack.id, 'failed', text);
        missing.push(`${stack.id}: ${text.split('\n')[0]}`);
        // Its later pushes would fail alike, and disturb what is told of the others.
        await api.expectSuccess('PUT', `${api.stackPath(stack)}/lock`, { note: 'its run failed' });
        narrator.event(stack.id, 'setting', 'locked: the story goes on without it');
        return null;
      }
    });
    stacks = (await Promise.all(parts)).filter((stack) => stack !== null);
  }

  narrator.chapter('1. A push is planned, and waits for a person');
  await everyStack(await push('Add the network', await firstVersion()), confirmed);

  narrator.chapter('2. With autodeploy, a push goes through by itself');
  for (const stack of stacks) {
    await api.changeStack(stack, { autodeploy: true });
    narrator.event(stack.id, 'setting', 'autodeploy on');
  }
  await everyStack(await push('Upgrade the database, relabel a subnet', await secondVersion()), autodeployed);

  narrator.chapter('3. A push that changes no resource is not applied');
  await everyStack(await push('Describe the projects', thirdVersion), unchanged);

  narrator.chapter('4. A policy denies what would delete something');
  const policy = { name: 'no deletes', kind: 'PLAN', body: noDeletes, labels: ['autoattach:*'] };
  await api.expectSuccess('POST', '/api/v1/policies', { ...policy, account: 'acme' });
  narrator.event('', 'policy', 'no deletes: judges the plans of all stacks, in the real opa');
  stacks = stacks.filter(({ id }) => id === 'yaml');
  await everyStack(await push('Remove the service', await withoutService()), denied);

  narrator.chapter('5. A stack of Terraform is planned and confirmed in the same way');
  const tool = await api.installedVendor(['terraform', 'opentofu']);
  if (tool === null) {
    narrator.event('', 'setting', 'neither terraform nor tofu is on PATH: this chapter is left out');
  } else {
    stacks = [await addTerraform(tool)];
    await everyStack(await push('Add the shop for Terraform', await terraformProgram()), confirmed);
  }

  return { runs, missing, passphrase };
}
