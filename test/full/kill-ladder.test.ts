/**
 * How applies of the real tools end when they are told to: SIGINT, a second one, SIGKILL of the sandbox. What the tools
 * make of it is theirs to know, so each says it here.
 */
import { afterAll, describe, expect, test } from 'vitest';
import type { Sandbox, SandboxResult } from '../../src/sandbox/sandbox.ts';
import { opentofu, terraform } from '../../src/vendors/terraform/flavour.ts';
import { type ContractStack, makePipe, openContractWorld } from '../vendors/contract/contract-world.ts';
import { pulumiSubject } from '../vendors/contract/pulumi.ts';
import { type Resource, type Subject, value } from '../vendors/contract/sample.ts';
import { isMissing, terraformSubject } from '../vendors/contract/terraform.ts';

interface Words {
  readonly first: RegExp;
  readonly second: RegExp;
  /** It writes its state after every step, so that what was done is known whatever ends it. */
  readonly recordsSteps: boolean;
  /** What the next run comes to, after the tool was cut off. */
  readonly next: Readonly<Record<string, unknown>>;
}

const ofPulumi: Words = {
  first: /\^C received; cancelling/,
  second: /\^C received; terminating/,
  recordsSteps: true,
  next: { state: 'FAILED', outcome: 'pending_operations', note: expect.stringContaining('- cut-off (') },
};
const ofTerraform: Words = {
  first: /Interrupt received/,
  second: /Two interrupts received/,
  // It keeps the rest in memory, and says itself that data may be lost: an interrupted write has left an empty state.
  recordsSteps: false,
  // The lock is the kernel's, and ends with the process.
  next: { state: 'FINISHED' },
};

type World = Awaited<ReturnType<typeof openContractWorld>>;

/** Larger than a pipe: who writes it waits for a reader. */
const large = 'x'.repeat(200_000);

/** Of the apply, as the sandbox was asked for it and what it answered. */
function createSpy() {
  const seen = { output: '', results: [] as SandboxResult[] };
  const around = (sandbox: Sandbox): Sandbox => ({
    ...sandbox,
    async run(command) {
      const isApply = command.argv.some((word) => word === 'apply' || word === 'up');
      if (!isApply) return await sandbox.run(command);
      const result = await sandbox.run({
        ...command,
        onOutput(stream, chunk) {
          seen.output += Buffer.from(chunk).toString('utf8');
          return command.onOutput(stream, chunk);
        },
      });
      seen.results.push(result);
      return result;
    },
  });
  return { seen, around };
}

function ladder(subject: Subject, words: Words) {
  /** A run that changes `first`, and then does what takes its time at a pipe that only the test can let go on. */
  async function begin(world: World, then: (pipe: string) => Resource) {
    const stack = await world.addStack();
    await stack.run({ resources: [value('first', '1')] });
    makePipe(stack.outside('pipe'));
    const id = await stack.start({
      resources: [value('first', 'changed'), then(stack.inside('pipe'))],
    });
    return { stack, id };
  }

  /** No process of the run is left, and the next one meets what it should. */
  async function expectAfterwards(world: World, stack: ContractStack, id: string, next: Words['next']) {
    expect(world.processesOf(id)).toEqual([]);
    await stack.unlock();
    expect(await stack.run({ resources: [value('first', '2')] })).toMatchObject(next);
  }

  test('who listens to the first SIGINT saves its state and ends by itself', async () => {
    const { seen, around } = createSpy();
    await using world = await openContractWorld(subject, { around, applyLimits: { graceMs: 120_000 } });
    const { stack, id } = await begin(world, (pipe) => ({
      kind: 'endless',
      name: 'endless',
      pipe,
      after: 'first',
    }));
    expect(await world.heard(id, stack.outside('pipe'))).toBe('began');
    await world.loseWorkers();
    await world.settle();

    const result = seen.results.at(-1);
    expect(result).toMatchObject({ kind: 'stopped', exitCode: expect.any(Number) });
    expect(result).not.toMatchObject({ exitCode: 0 });
    expect(seen.output).toMatch(words.first);
    expect(seen.output).not.toMatch(words.second);
    expect(stack.recorded()).toMatchObject({ first: 'changed' });
    expect(await world.rested(id)).toMatchObject({ state: 'FAILED', outcome: 'worker_lost' });
    await expectAfterwards(world, stack, id, { state: 'FINISHED' });
  });

  test('who waits for a resource that does not listen ends at the second SIGINT', async () => {
    const { seen, around } = createSpy();
    await using world = await openContractWorld(subject, {
      around,
      applyLimits: { graceMs: 1000 },
      forcedStopMs: 120_000,
    });
    const { stack, id } = await begin(world, (pipe) => ({
      kind: 'file',
      name: 'cut-off',
      path: pipe,
      content: large,
      after: 'first',
    }));
    // Its provider has opened the pipe, and writes more than anybody reads.
    await using _ = await world.opened(id, stack.outside('pipe'), 'r');
    await world.loseWorkers();
    await world.settle();

    expect(seen.results.at(-1)).toMatchObject({ kind: 'stopped', exitCode: expect.any(Number) });
    expect(seen.output).toMatch(words.first);
    expect(seen.output).toMatch(words.second);
    if (words.recordsSteps) expect(stack.recorded()).toMatchObject({ first: 'changed' });
    expect(await world.rested(id)).toMatchObject({ state: 'FAILED', outcome: 'worker_lost' });
    await expectAfterwards(world, stack, id, words.next);
  });

  test('who does not listen at all is killed with its sandbox, and the run says which limit it was', async () => {
    const { seen, around } = createSpy();
    await using world = await openContractWorld(subject, {
      around,
      applyLimits: { wallMs: 20_000, graceMs: 500 },
      forcedStopMs: 500,
    });
    const { stack, id } = await begin(world, (pipe) => ({
      kind: 'freezing',
      name: 'cut-off',
      pipe,
      after: 'first',
    }));
    expect(await world.heard(id, stack.outside('pipe'))).toBe('began');

    const ended = await world.rested(id, ['FAILED']);
    expect(seen.results.at(-1)).toMatchObject({ kind: 'timeout', exitCode: null });
    expect(seen.output).not.toMatch(words.first);
    expect(ended).toMatchObject({ state: 'FAILED', outcome: 'timeout' });
    expect(ended.note).toContain('check the real state');
    if (words.recordsSteps) expect(stack.recorded()).toMatchObject({ first: 'changed' });
    await world.settle();
    await expectAfterwards(world, stack, id, words.next);
  });
}

describe('an apply of Pulumi', async () => ladder(await pulumiSubject(), ofPulumi));

for (const flavour of [terraform, opentofu]) {
  describe(`an apply of ${flavour.label}`, async () => {
    if (isMissing(flavour)) return test.skip(`${flavour.label} is not on this machine`, () => {});
    const subject = await terraformSubject(flavour);
    afterAll(() => subject[Symbol.dispose]());
    ladder(subject, ofTerraform);
  });
}
