import { describe, expect, test } from 'vitest';
import { deploymentStatusOf, deploymentStep } from '../../src/github/feedback/deployment.ts';
import type { Run } from '../../src/runs/run.ts';
import { runStates } from '../../src/runs/run.ts';
import { aRun } from '../support/builders.ts';
import { openFeedback } from './feedback-world.ts';
import { eventually } from './support.ts';

type World = Awaited<ReturnType<typeof openFeedback>>;

const planned = { delta: { added: 1, changed: 0, deleted: 0, resources: 1 } };
const item = (run: Run) => `deployment:${run.id}`;

async function opened(settings: Parameters<World['addStack']>[1] = {}) {
  const world = await openFeedback();
  await world.addStack('network', settings);
  world.outbox().start();
  return world;
}

/** What GitHub shows, oldest first. */
const deployments = ({ github }: World) =>
  github.deployments.map(({ request, statuses }) => ({
    environment: request.environment,
    states: statuses.map(({ request: status }) => status.state),
  }));

const settled = (world: World, run: Run) => world.settled(item(run));

describe('a deployment', () => {
  test('begins when there is something to apply, and follows the run', async () => {
    await using world = await opened();
    const run = await world.move(await world.addRun('network', 'TRACKED'), 'planned', planned);
    await settled(world, run);
    for (const command of ['confirm', 'claim', 'prepared', 'finish'] as const) {
      await world.move(run, { kind: command });
      await settled(world, run);
    }

    expect(deployments(world)).toEqual([
      { environment: 'network', states: ['pending', 'queued', 'in_progress', 'success'] },
    ]);
    expect(world.github.deployments[0]).toMatchObject({
      sha: world.hash,
      request: { auto_merge: false, required_contexts: [], payload: { slipway: { run: run.id } } },
    });
    expect(world.github.deployments[0]?.statuses.at(-1)?.request).toMatchObject({
      description: 'Applied: +1 ~0 -0',
      log_url: `https://slipway.example.com/runs/${run.id}`,
    });
  });

  test('begins with the apply where nobody has to confirm', async () => {
    await using world = await opened();
    const run = await world.move(await world.addRun('network', 'TRACKED'), 'APPLYING', planned);
    await settled(world, run);
    await world.move(run, { kind: 'fail' });
    await settled(world, run);

    expect(deployments(world)).toEqual([{ environment: 'network', states: ['in_progress', 'failure'] }]);
  });

  test('of a plan that was discarded is inactive, and none at all if GitHub never had it', async () => {
    await using world = await opened();
    const first = await world.move(await world.addRun('network', 'TRACKED'), 'planned', planned);
    await settled(world, first);
    await world.move(first, { kind: 'discard' });
    await settled(world, first);
    await world.outbox()[Symbol.asyncDispose]();

    const second = await world.move(await world.addRun('network', 'TRACKED'), 'planned', planned);
    await world.move(second, { kind: 'discard' });
    await world.restart();
    world.outbox().start();
    await settled(world, second);

    expect(deployments(world)).toEqual([{ environment: 'network', states: ['pending', 'inactive'] }]);
  });

  test.each([
    ['a preview', 'PROPOSED', 'planned'],
    ['a plan with nothing to change', 'TRACKED', 'nothing-to-change'],
    ['a run that fails before', 'TRACKED', 'PLANNING'],
  ] as const)('is not made for %s', async (_, type, way) => {
    await using world = await opened();
    const run = await world.move(await world.addRun('network', type), way);
    if (way === 'PLANNING') await world.move(run, { kind: 'fail' });

    expect(await world.store.find(item(run))).toBeNull();
  });

  test('has the environment that the stack names, also when that changes meanwhile; with none, none', async () => {
    await using world = await opened({ deploymentEnvironment: 'production' });
    await world.addStack('quiet', { deploymentEnvironment: '' });
    const run = await world.move(await world.addRun('network', 'TRACKED'), 'planned', planned);
    await settled(world, run);
    const quiet = await world.move(await world.addRun('quiet', 'TRACKED'), 'planned', planned);

    await world.changeSettings('network', { deploymentEnvironment: 'staging' });
    await world.move(run, { kind: 'discard' });
    await settled(world, run);

    expect(deployments(world)).toEqual([{ environment: 'production', states: ['pending', 'inactive'] }]);
    expect(await world.store.find(item(quiet))).toBeNull();
  });

  test('that GitHub made without telling is found again', async () => {
    await using world = await opened();
    const first = await world.move(await world.addRun('network', 'TRACKED'), 'APPLYING', planned);
    await settled(world, first);
    await world.move(first, { kind: 'finish' });
    await settled(world, first);
    world.github.failNext({ method: 'POST', pathPattern: /\/deployments$/, dropAnswer: true });
    const second = await world.move(await world.addRun('network', 'TRACKED'), 'APPLYING', planned);
    await world.fails(item(second));

    world.clock.ms += 2000;
    world.outbox().wake();
    await settled(world, second);

    expect(deployments(world).map(({ states }) => states)).toEqual([
      ['in_progress', 'success'],
      ['in_progress'],
    ]);
  });

  test('whose status was refused once goes on where the run is by then', async () => {
    await using world = await opened();
    world.github.failNext({ method: 'POST', pathPattern: /\/statuses$/, status: 502 });
    const run = await world.move(await world.addRun('network', 'TRACKED'), 'APPLYING', planned);
    await world.fails(item(run));

    await world.move(run, { kind: 'finish' });
    await settled(world, run);

    expect(deployments(world)).toEqual([{ environment: 'network', states: ['success'] }]);
  });

  test('that GitHub does not allow is given up with words', async () => {
    await using world = await opened();
    await world.github.uninstallApp('acme');
    const installed = await world.github.installApp('acme', { permissions: { deployments: 'read' } });
    await world.database.write((tx) =>
      world.repositories.saveRepository(tx, { ...world.repository, installationId: installed.id }),
    );

    const run = await world.move(await world.addRun('network', 'TRACKED'), 'APPLYING', planned);

    await eventually(async () =>
      expect(await world.store.find(item(run))).toMatchObject({
        ...{
          isSettled: true,
          lastError: expect.stringMatching(/^GitHub refuses the deployment: .*integration/),
        },
      }),
    );
    expect(world.errors).toEqual([]);
  });

  test('is no longer active once its stack was torn down, and those of other stacks are', async () => {
    await using world = await opened({ deploymentEnvironment: 'shared' });
    await world.addStack('other', { deploymentEnvironment: 'shared' });
    const deploy = async (stack: string, end: 'finish' | 'fail') => {
      const run = await world.move(await world.addRun(stack, 'TRACKED'), 'APPLYING', planned);
      await settled(world, run);
      await world.move(run, { kind: end });
      await settled(world, run);
    };
    await deploy('network', 'finish');
    await deploy('network', 'fail');
    const [active] = world.github.deployments;
    // As in production, where the success of one does not end those before.
    if (active) active.request.production_environment = true;
    await deploy('other', 'finish');

    const destroyed = await world.move(await world.addRun('network', 'DESTROY'), 'planned', planned);
    for (const command of ['confirm', 'claim', 'prepared', 'finish'] as const) {
      await world.move(destroyed, { kind: command });
    }
    await settled(world, destroyed);

    expect(deployments(world).map(({ states }) => states.at(-1))).toEqual(['inactive', 'failure', 'success']);
    expect(active?.statuses.at(-1)?.request.description).toBe('Destroyed');
  });
});

describe('the state of a deployment', () => {
  test('has words that GitHub takes, for every state in which there is one', () => {
    for (const state of runStates) {
      const status = deploymentStatusOf(aRun({ state, ...planned }));
      const isKept = deploymentStep(aRun({ state })) !== null;
      if (isKept) expect(status).not.toBeNull();
      expect(status?.description.length ?? 0).toBeLessThanOrEqual(140);
    }
  });

  test('is asked of no other runs', () => {
    for (const type of ['PROPOSED', 'TASK'] as const) {
      for (const state of runStates) expect(deploymentStep(aRun({ type, state }))).toBeNull();
    }
    expect(
      deploymentStep(aRun({ type: 'DESTROY', state: 'FINISHED', note: 'nothing to change' })),
    ).toBeNull();
  });
});
