/** A pulumi that died while it created something, and the way out, step by step as the explanations say it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { runSchema } from '../../demo/api-objects.ts';
import { waitFor } from '../../demo/wait.ts';
import { startScenario } from '../support/scenario.ts';
import { expectTold, killGroup, stateFile, timesIn, untilGone } from './evidence.ts';
import { stackFile } from './kill-points.ts';

const sample = join(import.meta.dirname, '../../demo/programs/javascript');
const minutesMs = 60_000;

/** Its creation takes for ever, the first time. */
const program = `const pulumi = require('@pulumi/pulumi');
const provider = {
  async create(inputs) {
    const fs = require('node:fs');
    fs.appendFileSync('/state/created', inputs.name + '\\n');
    const times = fs.readFileSync('/state/created', 'utf8').split('\\n').length - 1;
    if (times === 1) await new Promise((resolve) => setTimeout(resolve, 600000));
    return { id: 'id-' + times, outs: inputs };
  },
};
class Thing extends pulumi.dynamic.Resource {
  constructor(name) {
    super(provider, name, { name });
  }
}
new Thing('slow');
`;

const explanation = z.object({
  next: z.array(z.object({ action: z.string().optional(), command: z.string().optional() })),
  mend: z.object({ standing: z.string(), command: z.string().optional() }).optional(),
});

test('what a killed apply left half created is found before it is created again, and mended', {
  timeout: 10 * minutesMs,
}, async () => {
  await using scenario = await startScenario();
  const { api, github, server } = scenario;
  const hooks = { beforeInit: ['npm ci --no-audit --no-fund'] };
  const { stack, repository } = await scenario.addStack('half-created', { autodeploy: true, hooks });
  const explain = async (id: string) =>
    explanation.parse((await api.expectSuccess('GET', `/api/v1/runs/${id}/explanation`)).json);
  const actions = async (id: string) => (await explain(id)).next.map(({ action }) => action ?? 'read');

  const files: Record<string, string> = { 'index.js': program };
  for (const name of ['package.json', 'package-lock.json', 'Pulumi.yaml']) {
    files[name] = await readFile(join(sample, name), 'utf8');
  }
  files['Pulumi.yaml'] = files['Pulumi.yaml']?.replace(/^name: .*$/m, 'name: scenario') ?? '';
  const pushed = await github.commitAndPush(repository, {
    branch: 'main',
    message: 'Make one',
    files,
    pusher: 'ada',
  });
  const { id } = await api.waitForRun(stack, pushed.sha);
  await api.waitForState(id, 'APPLYING', 3 * minutesMs);
  const isCreating = async () => (await timesIn(scenario, repository, 'created')) === 1;
  await waitFor('the creation to begin', isCreating, { timeoutMs: minutesMs });

  const family = await killGroup(scenario);
  await server.start();
  await untilGone(family);
  expect(await api.waitForState(id, 'FAILED')).toMatchObject({ outcome: 'worker_lost' });
  expect(await stateFile(scenario, repository, stackFile)).toContain('"creating"');
  expect(await actions(id)).toEqual(['read', 'unlock', 'retry']);
  await api.expectSuccess('DELETE', `${api.stackPath(stack)}/lock`);

  const found = await api.act(id, 'retry');
  const half = await api.waitForState(found.id, 'FAILED', 3 * minutesMs);
  expect(half).toMatchObject({ outcome: 'pending_operations', note: expect.stringContaining('- slow (') });
  expect(await scenario.commandLines(found.id)).toContain('pulumi stack export');
  expect(await timesIn(scenario, repository, 'created')).toBe(1);
  expect(await actions(found.id)).toEqual(['read', 'mend', 'retry']);
  expect((await explain(found.id)).mend).toEqual({
    standing: 'possible',
    command: 'pulumi cancel --yes; pulumi refresh --yes --skip-preview --clear-pending-creates',
  });

  const { json } = await api.expectSuccess('POST', `/api/v1/runs/${found.id}/mend`);
  await api.waitForState(runSchema.parse(json).id, 'FINISHED', 3 * minutesMs);
  expect(await stateFile(scenario, repository, stackFile)).not.toContain('"creating"');
  const again = await api.act(found.id, 'retry');
  await api.waitForState(again.id, 'FINISHED', 3 * minutesMs);
  // Looked at once more, as a task says nothing of the state.
  expect(await scenario.commandLines(again.id)).toContain('pulumi stack export');
  expect(await stateFile(scenario, repository, stackFile)).toContain('id-2');
  for (const run of [id, found.id, again.id]) await expectTold(scenario, run);

  const next = await api.startRun(stack, { type: 'TRACKED' });
  await api.waitForState(next.id, 'FINISHED', 3 * minutesMs);
  expect(await scenario.commandLines(next.id)).not.toContain('pulumi stack export');
});
