import { createRoute, z } from '@hono/zod-openapi';
import { readWorkflow } from '../../runs/follow-ups.ts';
import type { RunCauseStore } from '../../runs/run-causes.ts';
import type { RunStore } from '../../runs/run-store.ts';
import type { StackStore } from '../../stacks/stack-store.ts';
import { type Api, newApi } from '../api.ts';
import { pageOf, wholeListQuery } from '../page.ts';
import { exampleIds } from './examples.ts';
import type { Guard } from './guard.ts';
import { json, needs, problems, runParams, runPath } from './route-parts.ts';
import { runState, runTypes } from './run-object.ts';
import { stackRoles } from './stack-roles.ts';

export const workflowRunSchema = z
  .object({
    run: z.string(),
    stack: z.object({ account: z.string(), id: z.string(), name: z.string() }),
    type: z.enum(runTypes),
    state: runState,
    depth: z.number().int().openapi({ description: '0: with this run the workflow began.' }),
    cause: z.object({ run: z.string(), policy: z.string() }).optional(),
  })
  .openapi('WorkflowRun', {
    example: {
      run: exampleIds.run,
      stack: { account: 'acme', id: 'network-prod', name: 'Network Prod' },
      type: 'TRACKED',
      state: 'FINISHED',
      depth: 0,
    },
  });

const listRoute = createRoute({
  method: 'get',
  path: `${runPath}/workflow`,
  operationId: 'listRunWorkflow',
  tags: ['runs'],
  summary: 'The runs that trigger policies have chained with this one, oldest first',
  ...needs('reader'),
  request: { params: runParams, query: wholeListQuery },
  responses: {
    200: json(
      pageOf(workflowRunSchema),
      'Itself included; those of stacks that you may not read are left out.',
    ),
    ...problems,
  },
});

export function runWorkflowRoutes(parts: {
  readonly guard: Guard;
  readonly runs: Pick<RunStore, 'find'>;
  readonly causes: RunCauseStore;
  readonly stackStore: Pick<StackStore, 'findAll'>;
}): Api {
  const { guard, stackStore } = parts;
  const api = newApi();

  api.openapi(listRoute, async (c) => {
    const { run } = await guard.run(c.var.actor, c.req.valid('param').run, 'reader');
    const members = await readWorkflow(parts, run);
    const stacks = await stackStore.findAll([...new Set(members.map((member) => member.run.stackKey))]);
    const byKey = new Map(stacks.map((stack) => [stack.key, stack]));
    const roles = stackRoles(guard, c.var.actor);
    const items: z.infer<typeof workflowRunSchema>[] = [];
    for (const {
      run: { id, stackKey, type, state },
      cause,
    } of members) {
      const stack = byKey.get(stackKey);
      if (!stack || (await roles.roleOn(stack, stacks)) === null) continue;
      items.push({
        run: id,
        stack: { account: stack.account, id: stack.id, name: stack.settings.name },
        ...{ type, state, depth: cause?.depth ?? 0 },
        ...(cause ? { cause: { run: cause.causeRunId, policy: cause.policyName } } : {}),
      });
    }
    return c.json({ items, nextCursor: null }, 200);
  });

  return api;
}
