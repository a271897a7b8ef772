/**
 * What scenario tests say in one line: a stack with a repository and a webhook of its own, a push to it, and what the
 * outside saw of a run. The world is demo/installation.ts; nothing here looks inside the server.
 */
import { expect } from 'vitest';
import type { RunObject, StackObject } from '../../demo/api-objects.ts';
import type { CheckRun } from '../../demo/github/check-run.ts';
import type { Repository } from '../../demo/github/state.ts';
import { type Installation, type InstallationOptions, startInstallation } from '../../demo/installation.ts';
import { waitFor } from '../../demo/wait.ts';

/** For `expect.poll`: what comes a moment after the end of a run may take long on a busy machine. */
export const patience = { timeout: 30_000 };

export const passphrase = 'correct horse of the scenario';

/** A value that Pulumi keeps in its state: a resource that needs no provider. */
export const stash = (name: string, input: string): string =>
  `  ${name}:\n    type: pulumi:Stash\n    properties:\n      input: ${input}\n`;

export const program = (...resources: readonly string[]): string =>
  `name: scenario\nruntime: yaml\nresources:\n${resources.join('')}`;

export interface ScenarioStack {
  readonly stack: StackObject;
  readonly repository: Repository;
  /** Commits the program and pushes it; gives the run that this made. */
  push(pulumiYaml: string, options?: PushOptions): Promise<PushedRun>;
}

interface StackOptions {
  /** Where its webhook goes; the receiver itself when left out. */
  readonly webhooksTo?: string;
}

interface PushOptions {
  readonly branch?: string;
  readonly message?: string;
}

export interface PushedRun extends RunObject {
  readonly sha: string;
  readonly deliveryId: string;
}

export interface Scenario extends Installation {
  /** A stack named after the test, so that what one test does no other sees. */
  addStack(name: string, settings?: Record<string, unknown>, options?: StackOptions): Promise<ScenarioStack>;
  /** The same in a repository that there is. */
  addStackTo(
    repository: Repository,
    name: string,
    settings?: Record<string, unknown>,
    options?: StackOptions,
  ): Promise<ScenarioStack>;
  /** The check run of a run, once GitHub shows that conclusion. */
  waitForCheckRun(runId: string, conclusion: string): Promise<CheckRun>;
  /** Command lines of a run in order, as people would type them. */
  commandLines(runId: string): Promise<string[]>;
  /** Each state change arrived once, in order, with both signatures right. */
  expectWebhooksToTell(runId: string, options?: { readonly mayRepeat?: boolean }): Promise<void>;
  passedStates(runId: string): Promise<string[]>;
}

export async function startScenario(options: InstallationOptions = {}): Promise<Scenario> {
  const installation = await startInstallation(options);
  const { api, github, receiver } = installation;

  async function passedStates(runId: string): Promise<string[]> {
    return (await api.states(runId)).map(({ state }) => state);
  }

  async function addStack(
    name: string,
    settings: Record<string, unknown> = {},
    options: StackOptions = {},
  ): Promise<ScenarioStack> {
    const repository = await installation.addRepository(name, { 'README.md': 'hello\n' });
    return addStackTo(repository, name, settings, options);
  }

  async function addStackTo(
    repository: Repository,
    name: string,
    settings: Record<string, unknown> = {},
    { webhooksTo = receiver.url }: StackOptions = {},
  ): Promise<ScenarioStack> {
    const stack = await api.createStack({
      name,
      repository: repository.fullName,
      vendor: { pulumi: { loginUrl: 'file:///state', stackName: 'dev' } },
      ...settings,
    });
    await api.setVariable(stack, 'PULUMI_CONFIG_PASSPHRASE', { value: passphrase });
    await api.addWebhook(stack, { endpoint: `${webhooksTo}/${name}`, secret: receiver.secret });
    return {
      stack,
      repository,
      async push(pulumiYaml, { branch = 'main', message = 'Change the program' } = {}) {
        const files = { 'Pulumi.yaml': pulumiYaml };
        const pushed = await github.commitAndPush(repository, { branch, message, files, pusher: 'ada' });
        expect(pushed.status).toBe(202);
        const run = await api.waitForRun(stack, pushed.sha);
        return { ...run, sha: pushed.sha, deliveryId: pushed.deliveryId };
      },
    };
  }

  return {
    ...installation,
    addStack,
    addStackTo,
    passedStates,
    waitForCheckRun: (runId, conclusion) =>
      waitFor(
        `the check run of ${runId} to be ${conclusion}`,
        () => github.checkRuns.find((each) => each.externalId === runId && each.conclusion === conclusion),
        { timeoutMs: 20_000 },
      ),
    async commandLines(runId) {
      return (await api.commands(runId)).map(({ argv }) => argv.join(' '));
    },
    async expectWebhooksToTell(runId, { mayRepeat = false } = {}) {
      const passed = await api.states(runId);
      const all = await receiver.waitForVersions(runId, passed.length);
      // What was sent but not recorded before a crash is sent again, under the same id.
      const isFirst = (each: (typeof all)[number], index: number) =>
        all.findIndex(({ delivery }) => delivery === each.delivery) === index;
      const received = mayRepeat ? all.filter(isFirst) : all;
      const told = ({ state, stateVersion }: { state: string | null; stateVersion: number | null }) =>
        `${stateVersion} ${state}`;
      expect(received.map(told)).toEqual(passed.map(told));
      expect(received.filter(({ verified, verified256 }) => !(verified && verified256))).toEqual([]);
      expect(passed.map(({ stateVersion }) => stateVersion)).toEqual(passed.map((_, index) => index + 1));
    },
  };
}
