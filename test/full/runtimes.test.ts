/**
 * The life of a program in each runtime, through the whole app: made, changed, previewed on a branch, broken, half
 * failed, torn down. Dependencies come from the package registries, through the proxy of the run.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changed, type Edit, filesOf } from '../../demo/programs.ts';
import { formsOf } from '../../demo/secret-search.ts';
import { type Scenario, startScenario } from '../support/scenario.ts';
import { type Sample, samples } from './samples.ts';

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

/** Without a cache, a program in Go is built from nothing, and machines may be busy. */
const runWithinMs = 15 * 60_000;
const lifeWithinMs = 40 * 60_000;

test.concurrent.for(samples)(
  'a program in $name is made, changed, previewed, broken, half done and torn down',
  { timeout: lifeWithinMs },
  async ({ name, prepare }) => {
    const sample = prepare();
    const { resources, updated } = sample;
    const life = await startLife(name, sample);

    const made = await life.apply(await life.push([]));
    expect(made).toMatchObject({ type: 'TRACKED', state: 'FINISHED' });
    expect(made.delta).toEqual({ added: resources, changed: 0, deleted: 0, resources });
    await life.expectSubnets([1, 2]);

    const grown = await life.apply(await life.push([['shop:1.0.0', 'shop:1.1.0'], sample.replacement]));
    expect(grown).toMatchObject({ state: 'FINISHED' });
    expect(grown.delta).toEqual({ added: 1, changed: updated, deleted: 1, resources });
    await life.expectSubnets([1, 3]);

    const tried = await life.push([['shop:1.1.0', 'shop:2.0.0']], 'feature');
    expect(await life.ended(tried)).toMatchObject({ type: 'PROPOSED', state: 'FINISHED' });
    expect((await life.ended(tried)).delta).toEqual({ added: 0, changed: updated, deleted: 0, resources });

    const mistaken = await life.ended(await life.push([sample.mistake]));
    expect(mistaken).toMatchObject({ state: 'FAILED', outcome: 'tool_failed' });
    expect(mistaken.note).toMatch(sample.mistakeTold);

    const failing = [[sample.mistake[1], sample.mistake[0]] as const, ...sample.failure];
    const halfDone = await life.apply(await life.push(failing));
    expect(halfDone).toMatchObject({ state: 'FAILED', outcome: 'tool_failed' });
    expect(halfDone.note).toMatch(sample.failureTold);

    const gone = await life.tearDown();
    expect(gone.run).toMatchObject({ type: 'DESTROY', state: 'FINISHED' });
    expect(gone.run.delta).toEqual({ added: 0, changed: 0, deleted: sample.destroyed, resources: 0 });
    expect(gone.plan).toContain(sample.done);
    await life.expectSubnets([]);

    await life.expectHidden(sample.secret);
  },
);

async function startLife(name: string, sample: Sample) {
  const { api, github, receiver } = scenario;
  const { program, vendor, beforeInit } = sample;
  const { stack, repository } = await scenario.addStack(name, {
    ...{ projectRoot: program, vendor, hooks: { beforeInit } },
  });
  const path = `${program}/${sample.file}`;
  let files = await filesOf(program);

  const ended = (id: string) => api.waitForState(id, ['FINISHED', 'FAILED', 'UNCONFIRMED'], runWithinMs);
  const changesOf = async (id: string) =>
    (await api.expectSuccess('GET', `/api/v1/runs/${id}/changes?limit=200`)).text;

  async function confirm(id: string, body: Record<string, unknown> = {}) {
    await api.waitForState(id, 'UNCONFIRMED', runWithinMs);
    await api.act(id, 'confirm', body);
    return api.waitForState(id, ['FINISHED', 'FAILED'], runWithinMs);
  }

  return {
    ended,
    apply: (id: string) => confirm(id),

    /** What goes to another branch than main stays there. */
    async push(edits: readonly Edit[], branch = 'main'): Promise<string> {
      const next = { ...files, [path]: changed(files, path, edits) };
      if (branch === 'main') files = next;
      const { sha } = await github.commitAndPush(repository, { branch, message: 'Change it', files: next });
      return (await api.waitForRun(stack, sha)).id;
    },

    async tearDown() {
      const { id } = await api.startRun(stack, { type: 'DESTROY' });
      const run = await confirm(id, { confirmation: stack.name });
      return { run, plan: await changesOf(id) };
    },

    /** By their numbers: what the dynamic provider keeps, where there is one. */
    async expectSubnets(numbers: readonly number[]): Promise<void> {
      if (sample.objects === null) return;
      const folder = join(scenario.dataDir, 'state', String(repository.id), '_', sample.objects);
      expect((await readdir(folder)).sort()).toEqual(numbers.map((number) => `subnet-${number}.json`));
    },

    /** In everything that somebody may read of its runs, each of which was told by webhook. */
    async expectHidden(secret: string): Promise<void> {
      const runs = await api.runsOf(stack);
      const forms = formsOf(secret);
      for (const run of runs) {
        await scenario.expectWebhooksToTell(run.id);
        const places = {
          log: await api.log(run.id),
          plan: await changesOf(run.id),
          run: JSON.stringify(run),
          webhooks: JSON.stringify(receiver.of(run.id)),
          checks: JSON.stringify(github.checkRuns.filter(({ externalId }) => externalId === run.id)),
        };
        for (const [place, text] of Object.entries(places)) {
          expect(
            forms.filter((form) => text.includes(form)),
            `${place} of ${run.type}`,
          ).toEqual([]);
        }
      }
      expect(runs).toHaveLength(6);
    },
  };
}
