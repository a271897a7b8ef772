import { describe, expect, it } from 'vitest';
import type { JudgedPlan, PlanJudge } from '../../src/runs/plan-judge.ts';
import type { CommandOutputs, Vendor, VendorCommand } from '../../src/worker/vendor.ts';
import type { PlanResult } from '../../src/worker/vendor-results.ts';
import { openWorkerWorld, shellStack, type WorkerWorld } from './worker-world.ts';

const longMs = 60_000;
const secret = 'hunter2-hunter2';
const ofPeople = 'correct-horse';

const bash = (label: string, script: string, environment = {}): VendorCommand => ({
  ...{ label, argv: ['bash', '-c', script], environment, writesOutput: true },
});

/** A tool that says its plan in words, and then once more as data: the list of its secrets. */
function toolOf(change: { plan?: string; show?: string; read?: PlanResult } = {}): Partial<Vendor> {
  const {
    plan = `echo refreshing; echo "Actions: $SECRET"; exit 2`,
    show = 'echo "[\\"$SECRET\\"]"; echo warned >&2',
  } = change;
  return {
    plan: (context) => [
      {
        ...bash('plan', `echo x > "$OUTPUT/plan"; ${plan}`, { SECRET: secret, OUTPUT: context.paths.output }),
        ...{ successCodes: [0, 2], holdsBackAfter: ['Actions:'] },
      },
      { ...bash('show', show, { SECRET: secret }), capturesStdout: true },
    ],
    readPlan: async (outputs) => change.read ?? read(outputs),
  };
}

function read(outputs: readonly [CommandOutputs, ...CommandOutputs[]]): PlanResult {
  const shown = outputs[1]?.captured;
  if (!outputs[1]) return { kind: 'failed', message: `plan said: ${outputs[0].stdoutTail}` };
  if (!shown) return { kind: 'unreadable', message: 'nothing was shown' };
  return {
    ...{ kind: 'planned', hasChanges: true, steps: [], planFile: 'plan' },
    delta: { added: 1, changed: 0, deleted: 0, resources: 1 },
    secrets: JSON.parse(Buffer.from(shown).toString()) as string[],
    document: { name: 'tool', content: { note: `its ${ofPeople}` } },
  };
}

/** Everything that is stored of a run and shown to people. */
async function shown(world: WorkerWorld, id: string): Promise<string> {
  const commands = await world.runs.commands(id);
  const { note } = await world.run(id);
  return JSON.stringify([await world.log(id), commands, note]);
}

describe('what a tool marks as secret in its plan', () => {
  it('is hidden from then on: in the plan itself, over the confirmation, and to the end', async () => {
    await using world = await openWorkerWorld();
    const say = (where: string) => `echo "${where}: ${secret}"`;
    const hooks = {
      ...{ afterPlan: [say('after plan')], beforeApply: [say('before apply')] },
      ...{ afterApply: [`${say('after apply')}; exit 1`], afterRun: [say('after run')] },
    };
    await world.addStack(shellStack({ apply: say('apply') }, hooks));
    const id = await world.pushed('a1');
    const worker = world.startWorker(toolOf());
    await world.until(id, 'UNCONFIRMED');
    expect(await world.log(id)).toMatch(
      /refreshing\n\[exit 2.*\]\n\$ bash -c .*\nwarned\n\[exit 0.*\]\n\[what plan said.*\]\nActions: \*\*\*\n/,
    );
    await world.commands.confirm(id, { actor: 'ada' });
    await world.until(id, 'FAILED');
    await worker.stop(longMs);

    const log = await world.log(id);
    for (const where of ['after plan', 'before apply', 'apply', 'after apply', 'after run']) {
      expect(log).toMatch(new RegExp(`^${where}: \\*\\*\\*$`, 'm'));
    }
    expect((await world.run(id)).note).toContain('after apply: ***');
    expect(await shown(world, id)).not.toContain(secret);
  });

  it('is for policies what the vendor has left of it, without the secrets of the stack', async () => {
    const judged: JudgedPlan[] = [];
    const judge: PlanJudge = {
      judge: async (about) => {
        judged.push(about);
        return { outcome: 'passed', note: null, lines: [], settle: async () => true };
      },
    };
    await using world = await openWorkerWorld(undefined, {}, undefined, judge);
    const stack = await world.addStack(shellStack({}));
    const variable = { name: 'KEY', value: ofPeople, secret: true, access: 'all' } as const;
    await world.database.write((tx) => world.stackStore.putVariable(tx, stack.key, variable));
    const id = await world.pushed('a1');
    const worker = world.startWorker(toolOf());
    await world.until(id, 'UNCONFIRMED');
    await worker.stop(longMs);

    const document = { name: 'tool', content: { note: 'its ***' } };
    expect(judged.map((each) => each.document)).toEqual([document]);
    expect(await world.runs.planDocument(id)).toEqual(document);
  });

  it('is hidden in what the first half still does', async () => {
    await using world = await openWorkerWorld();
    const hooks = { afterPlan: [`echo "failing: ${secret}"; exit 1`], afterRun: [`echo "end: ${secret}"`] };
    await world.addStack(shellStack({}, hooks));
    const id = await world.pushed('a1');
    const worker = world.startWorker(toolOf());
    await world.until(id, 'FAILED');
    await worker.stop(longMs);

    expect(await world.log(id)).toMatch(/^failing: \*\*\*$/m);
    expect(await world.log(id)).toMatch(/^end: \*\*\*$/m);
    expect(await shown(world, id)).not.toContain(secret);
  });
});

describe('a plan that cannot be made', () => {
  async function failing(change: Parameters<typeof toolOf>[0], limits = {}) {
    await using world = await openWorkerWorld(undefined, limits);
    await world.addStack(shellStack({}));
    const id = await world.pushed('a1');
    const worker = world.startWorker(toolOf(change));
    await world.until(id, 'FAILED');
    await worker.stop(longMs);
    const { outcome, note } = await world.run(id);
    return { outcome, note, log: await world.log(id), labels: await world.labels(id) };
  }
  const plan = 'echo refreshing; echo "Actions: a"';

  const notShown =
    '[what plan said is not shown: the plan could not be read, so nobody knows what of it is secret]';

  it('tells what came before the values, and the errors, when the command itself fails', async () => {
    const run = await failing({ plan: `${plan}; echo "it broke" >&2; exit 1` });

    expect(run).toMatchObject({ outcome: 'tool_failed', note: 'plan said: refreshing\n' });
    expect(run.log).toContain('\nrefreshing\n');
    expect(run.log).toContain('\nit broke\n');
    expect(run.log).toContain(notShown);
    expect(run.log).not.toContain('Actions: a\n');
    expect(run.labels).toEqual(['login', 'plan']);
  });

  it('says why it was stopped, and shows no values then', async () => {
    const run = await failing({ plan: `${plan}; sleep 60` }, { wallMs: 1000 });

    expect(run.outcome).toBe('timeout');
    expect(run.log).toContain(notShown);
    expect(run.log).not.toContain('\nActions: a\n');
  });

  it.each([
    ['what it is cannot be read', { plan: `${plan}; exit 0`, show: 'head -c 0' }],
    ['a later command fails', { plan, show: 'exit 1', read: { kind: 'failed', message: 'no' } as const }],
    ['a later command is stopped', { plan, show: 'sleep 60' }],
  ])('is not shown when %s', async (_, change) => {
    const unreadable = { kind: 'unreadable', message: 'what is this' } as const;
    const run = await failing({ read: unreadable, ...change }, { wallMs: 1500 });

    expect(run.log).toContain(notShown);
    expect(run.log).not.toContain('Actions: a\n');
  });
});

describe('a command whose output is data', () => {
  async function showing(show: string, limits: object, after = 'true') {
    await using world = await openWorkerWorld(undefined, limits);
    await world.addStack(shellStack({}, { afterPlan: [after] }));
    const id = await world.pushed('a1');
    const worker = world.startWorker(toolOf({ show }));
    await Promise.race([world.until(id, 'UNCONFIRMED'), world.until(id, 'FAILED')]);
    await worker.stop(longMs);
    const { state, outcome, note } = await world.run(id);
    return { state, outcome, note, log: await world.log(id) };
  }
  const much = 'head -c 300000 /dev/zero | tr "\\0" " "; echo []';

  it('may say as much as it likes, and say nothing for as long as it likes', async () => {
    const limits = { outputBytes: 100_000, silenceMs: 500 };
    const run = await showing(`sleep 1; ${much}`, limits, 'echo "room is left"');

    expect(run.state).toBe('UNCONFIRMED');
    expect(run.log).toMatch(/^room is left$/m);
    expect(run.log.length).toBeLessThan(3000);
  });

  it('shares what it says of errors with the phase', async () => {
    const errors = 'head -c 300000 /dev/zero | tr "\\0" x >&2; echo []';
    const run = await showing(errors, { outputBytes: 100_000 }, 'echo "no room"');

    expect(run.outcome).toBe('output_limit');
    expect(run.log).toContain('[what followed is not kept: it was too much]');
    expect(run.log.replaceAll(/[^x]/g, '').length).toBeLessThan(100_100);
  });

  it('still has to come to an end', async () => {
    const run = await showing('sleep 60', { wallMs: 1000 });

    expect(run.outcome).toBe('timeout');
  });
});
