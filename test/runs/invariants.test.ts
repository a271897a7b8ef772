import { expect, it } from 'vitest';
import { isTerminal } from '../../src/runs/run.ts';
import { fc } from '../support/fast-check.ts';
import { group, happen, work } from './model/actions.ts';
import { type Lives, openLives, stackOf } from './model/lives.ts';
import { allRuns, check, checkGhosts, newMemory } from './model/promises.ts';

/** More when asked for: MODEL_RUNS=500 npx vitest run --project unit test/runs/invariants.test.ts */
const numRuns = Number(process.env['MODEL_RUNS'] ?? 10);

/** Nothing is stuck: with workers that work and a person who confirms, every run comes to its end. */
async function bringToAnEnd(lives: Lives): Promise<void> {
  lives.life.endAfter(null);
  for (let turn = 0; turn < 2000; turn += 1) {
    const { world, held } = lives;
    for (const key of lives.stackKeys) await world.stacks.unlock(await stackOf(lives, key));
    await world.scheduler.settled();
    const assignment = held[0] ?? (await world.claim());
    if (assignment && !held.includes(assignment)) held.push(assignment);
    if (assignment) await work(lives, assignment, false);
    else if (!(await confirmOne(lives))) break;
  }
  const { read } = lives.world.database;
  expect((await allRuns(lives)).filter(({ state }) => !isTerminal(state))).toEqual([]);
  expect(await read.selectFrom('job').selectAll().execute()).toEqual([]);
  expect(await read.selectFrom('run_box').select('run_id').execute()).toEqual([]);
  const files = read.selectFrom('run_plan').select('run_id').where('file', 'is not', null);
  expect(await files.execute()).toEqual([]);
}

async function confirmOne({ world }: Lives): Promise<boolean> {
  const [waiting] = await world.runs.inState(['UNCONFIRMED']);
  if (waiting) await world.commands.confirm(waiting.id, { actor: 'ada', confirmation: 'Network Prod' });
  return waiting !== undefined;
}

it('keeps its promises whatever people, workers and crashes do, and brings every run to an end', {
  timeout: numRuns * 10_000,
}, async () => {
  const groups = fc.array(group, { minLength: 10, maxLength: 50, size: 'max' });
  const hesitation = fc.infiniteStream(fc.nat(12));
  await fc.assert(
    fc.asyncProperty(groups, hesitation, async (sequence, turns) => {
      await using lives = await openLives(() => turns.next().value ?? 0);
      const memory = newMemory();
      for (const [turn, actions] of sequence.entries()) {
        await happen(lives, actions);
        await lives.survive(() => checkGhosts(lives, turn));
        await check(lives, memory, { unlocked: actions.some(({ kind }) => kind === 'unlock') });
      }
      await bringToAnEnd(lives);
      await check(lives, memory, { unlocked: true });
    }),
    { numRuns },
  );
});
