import { createRoute, z } from '@hono/zod-openapi';
import { actorName } from '../../access/actor.ts';
import type { CommandRequest, CommandResult, RunCommands } from '../../runs/commands.ts';
import { isTerminal, type Run } from '../../runs/run.ts';
import { type Api, newApi } from '../api.ts';
import { type ProblemCode, refuse } from '../problem.ts';
import type { Guard } from './guard.ts';
import { json, needs, optionalJsonBody, problems, refuses, runParams, runPath } from './route-parts.ts';
import { runObject, runSchema, type Waiting } from './run-object.ts';

export interface RunCommandRouteParts extends Waiting {
  readonly guard: Guard;
  readonly commands: RunCommands;
}

// Not named itself: what extends a named one would be both in the document, and neither allows fields of the other.
const command = z.strictObject({
  stateVersion: z
    .number()
    .int()
    .min(1)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .openapi({ description: 'The version you looked at; left out: whatever it is now.' }),
  note: z.string().max(1000).optional(),
});
export const commandInput = command.openapi('RunCommand');

const confirmInput = command
  .extend({
    confirmation: z.string().optional().openapi({ description: 'For a DESTROY run: the name of its stack.' }),
  })
  .openapi('ConfirmRun');

const route = <N extends string, T extends z.ZodType>(
  name: N,
  summary: string,
  input: T,
  example: z.input<T> & object,
  ...codes: ProblemCode[]
) =>
  createRoute({
    method: 'post',
    path: `${runPath}/${name}` as const,
    operationId: `${name}Run`,
    tags: ['runs'],
    summary,
    ...needs('writer'),
    ...refuses('state-conflict', ...codes),
    request: { params: runParams, ...optionalJsonBody(input, example) },
    responses: { 200: json(runSchema, 'The run as it is now.'), ...problems },
  });

const confirmRoute = route(
  'confirm',
  'Confirm what was planned',
  confirmInput,
  { stateVersion: 6, note: 'reviewed with Grace' },
  'confirmation-required',
  'approval-required',
);
const discardRoute = route('discard', 'Discard what was planned', commandInput, {
  stateVersion: 6,
  note: 'deletes too much',
});
const cancelRoute = route('cancel', 'Cancel a run that no worker has yet', commandInput, {
  note: 'not needed any more',
});
const stopRoute = route('stop', 'Stop a run before it changes anything', commandInput, { stateVersion: 5 });
const prioritizeRoute = createRoute({
  method: 'post',
  path: `${runPath}/prioritize`,
  operationId: 'prioritizeRun',
  tags: ['runs'],
  summary: 'Put a QUEUED run in front of what else waits in its stack',
  ...needs('writer'),
  ...refuses('state-conflict'),
  request: {
    params: runParams,
    ...optionalJsonBody(command.pick({ stateVersion: true }), { stateVersion: 1 }),
  },
  responses: { 200: json(runSchema, 'The run as it is now.'), ...problems },
});
const retryRoute = route(
  'retry',
  'A new run like one that is over; answers with the new run',
  commandInput,
  {},
  'run-not-over',
  'commit-not-tracked',
  'forks-not-allowed',
  'repository-away',
);

/** Commands are compare-and-set: of two people who act at once, one wins and the other gets 409 with the state. */
export function runCommandRoutes(parts: RunCommandRouteParts): Api {
  const { guard, commands } = parts;
  const api = newApi();

  api.openapi(confirmRoute, async (c) => {
    const { run, stack } = await guard.run(c.var.actor, c.req.valid('param').run, 'writer');
    const { confirmation, ...given } = c.req.valid('json');
    const request = { actor: actorName(c.var.actor), ...given };
    const result = await commands.confirm(run.id, {
      ...request,
      ...(confirmation === undefined ? {} : { confirmation }),
    });
    return c.json(await runObject(doneOrConflict(result), stack, parts), 200);
  });

  const simple: [typeof discardRoute | typeof cancelRoute | typeof stopRoute, SimpleCommand][] = [
    [discardRoute, commands.discard],
    [cancelRoute, commands.cancel],
    [stopRoute, commands.stop],
  ];
  for (const [simpleRoute, command] of simple) {
    api.openapi(simpleRoute, async (c) => {
      const { run, stack } = await guard.run(c.var.actor, c.req.valid('param').run, 'writer');
      const result = await command(run.id, { actor: actorName(c.var.actor), ...c.req.valid('json') });
      return c.json(await runObject(doneOrConflict(result), stack, parts), 200);
    });
  }

  api.openapi(prioritizeRoute, async (c) => {
    const { run, stack } = await guard.run(c.var.actor, c.req.valid('param').run, 'writer');
    const result = await commands.prioritize(run.id, c.req.valid('json'));
    return c.json(await runObject(doneOrConflict(result), stack, parts), 200);
  });

  api.openapi(retryRoute, async (c) => {
    const actor = c.var.actor;
    const { run, stack } = await guard.run(actor, c.req.valid('param').run, 'writer');
    const { stateVersion } = c.req.valid('json');
    // A state that is over never changes again, so looking first is as good as compare-and-set.
    if (!isTerminal(run.state) || (stateVersion ?? run.stateVersion) !== run.stateVersion) conflict(run);
    const again = await commands.retry(run.id, { by: actor });
    if (again === 'duplicate') throw new Error('a retry without a key cannot be a duplicate');
    c.header('location', `/api/v1/runs/${again.id}`);
    return c.json(await runObject(again, stack, parts), 200);
  });

  return api;
}

type SimpleCommand = (runId: string, request: CommandRequest) => Promise<CommandResult>;

export function doneOrConflict(result: CommandResult): Run {
  return result.kind === 'done' ? result.run : conflict(result);
}

function conflict({ state, stateVersion }: Pick<Run, 'state' | 'stateVersion'>): never {
  refuse('state-conflict', {
    detail: `The run is ${state} (version ${stateVersion}) now; that does not allow this.`,
    hint: 'Look at the run again, then decide.',
    extra: { state, stateVersion },
  });
}
