import { createRoute, z } from '@hono/zod-openapi';
import type { Actor, Role } from '../../access/actor.ts';
import type { Access } from '../../access/roles.ts';
import { mayUnlock } from '../../stacks/may-unlock.ts';
import type { Stack } from '../../stacks/stack.ts';
import type { Stacks } from '../../stacks/stacks.ts';
import { UserError } from '../../user-error.ts';
import { type Api, newApi } from '../api.ts';
import { notFound, refuse } from '../problem.ts';
import type { Guard } from './guard.ts';
import { needs, optionalJsonBody, problems, refuses, stackParams, stackPath } from './route-parts.ts';

export interface LockRouteParts {
  readonly guard: Guard;
  readonly access: Access;
  readonly stacks: Stacks;
}

const path = `${stackPath}/lock`;
const tags = ['stacks'];
const lockInput = z
  .strictObject({ note: z.string().max(1000).optional() })
  .openapi({ example: { note: 'moving the state' } });

const putRoute = createRoute({
  method: 'put',
  path,
  operationId: 'lockStack',
  tags,
  summary: 'Lock a stack: only runs of the holder start',
  ...needs('writer'),
  ...refuses('locked'),
  request: { params: stackParams, ...optionalJsonBody(lockInput) },
  responses: { 204: { description: 'Locked by the caller.' }, ...problems },
});

const removeRoute = createRoute({
  method: 'delete',
  path,
  operationId: 'unlockStack',
  tags,
  summary: 'Unlock a stack',
  ...needs('writer'),
  ...refuses('locked'),
  request: { params: stackParams },
  responses: { 204: { description: 'Not locked (any more).' }, ...problems },
});

export function lockRoutes({ guard, access, stacks }: LockRouteParts): Api {
  const api = newApi();

  api.openapi(putRoute, async (c) => {
    const actor = c.var.actor;
    const params = c.req.valid('param');
    const stack = await guard.stack(actor, params, 'writer');
    try {
      await stacks.lock(stack, actor, c.req.valid('json').note ?? '');
    } catch (error) {
      if (!(error instanceof UserError && error.code === 'locked')) throw error;
      const holder = (await guard.stack(actor, params, 'reader')).lock?.holder;
      refuse('locked', {
        detail: error.message,
        hint: 'The holder or an administrator of the stack can unlock it.',
        extra: { holder },
      });
    }
    return c.body(null, 204);
  });

  api.openapi(removeRoute, async (c) => {
    const actor = c.var.actor;
    const stack = await guard.stack(actor, c.req.valid('param'), 'writer');
    const role = await roleOn(access, actor, stack);
    if (stack.lock && !mayUnlock(stack.lock, actor, role)) {
      throw new UserError('forbidden', `The stack is locked by ${stack.lock.holder}.`, {
        hint: 'The holder or an administrator of the stack can unlock it.',
      });
    }
    if (stack.lock) await stacks.unlock(stack);
    return c.body(null, 204);
  });

  return api;
}

async function roleOn(access: Access, actor: Actor, stack: Stack): Promise<Role> {
  const role = await access.require(actor, stack, 'writer');
  if (role === null) throw notFound();
  return role;
}
