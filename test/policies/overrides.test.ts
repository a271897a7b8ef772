import { describe, expect, it } from 'vitest';
import { createOverrides } from '../../src/policies/overrides.ts';
import type { Outcome } from '../../src/runs/run.ts';
import { createOverrideStore } from '../../src/storage/override-store.ts';
import { openRunWorld, type RunWorldOptions } from '../support/run-world.ts';

const ada = { kind: 'person', login: 'ada', email: 'ada@example.com' } as const;

async function opened(outcome: 'passed' | 'warned' | 'denied' | 'failed', options: RunWorldOptions = {}) {
  const judge = {
    judge: async () => ({ outcome, note: null, lines: [], settle: async () => true }),
  };
  const world = await openRunWorld({ judge, ...options });
  await world.addStack();
  const overrides = createOverrides({
    ...{ store: createOverrideStore(world.database), runs: world.runs },
    ...{ transactions: world.database, clock: world.clock, newId: world.newId },
  });
  return Object.assign(world, { overrides });
}

describe('an override', () => {
  it('names who, why and the changes that were denied', async () => {
    await using world = await opened('denied');
    const id = await world.pushed('a1');
    await world.plan();

    const made = await world.overrides.override(id, { actor: ada, reason: 'agreed' });

    const { changesDigest, stackKey } = await world.run(id);
    expect(made).toMatchObject({ runId: id, stackKey, changesDigest, actorName: 'ada', reason: 'agreed' });
    expect(await world.overrides.of(await world.run(id))).toEqual([made]);
    expect((await world.run(id)).state).toBe('FAILED');
  });

  it.each<['passed' | 'failed', Outcome | undefined]>([
    ['passed', undefined],
    ['failed', 'policy_failed'],
  ])('is refused for a run whose plan %s', async (outcome, ended) => {
    await using world = await opened(outcome);
    const id = await world.pushed('a1');
    await world.plan();
    expect((await world.run(id)).outcome).toBe(ended);

    const refused = world.overrides.override(id, { actor: ada, reason: 'agreed' });

    await expect(refused).rejects.toMatchObject({ code: 'not-denied' });
    expect(await world.overrides.of(await world.run(id))).toEqual([]);
  });

  it('is refused for a run that approval policies rejected: nobody denied its changes', async () => {
    let guards: string[] = [];
    await using world = await opened('warned', { guards: () => guards });
    const id = await world.pushed('a1');
    await world.plan();
    guards = ['p 1'];
    const verdict = { outcome: 'rejected', guards, note: null } as const;
    const waiting = await world.run(id);
    await world.database.write((tx) => world.settleApproval(tx, waiting, verdict));
    expect(await world.run(id)).toMatchObject({ state: 'FAILED', outcome: 'approval_rejected' });

    const refused = world.overrides.override(id, { actor: ada, reason: 'agreed' });

    await expect(refused).rejects.toMatchObject({ code: 'not-denied' });
    expect(await world.overrides.of(await world.run(id))).toEqual([]);
  });
});
