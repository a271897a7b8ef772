import type { Actor, Role } from '../../access/actor.ts';
import type { Place } from '../../access/permissions.ts';
import { type Access, includesRole } from '../../access/roles.ts';
import type { Run } from '../../runs/run.ts';
import type { RunStore } from '../../runs/run-store.ts';
import type { Stack } from '../../stacks/stack.ts';
import type { StackStore } from '../../stacks/stack-store.ts';
import { notFound } from '../problem.ts';

/**
 * How a route gets at a stack or a run: found, and allowed. There is no other way to one in this folder, so a
 * route cannot forget to ask. Both throw `not-found` for what the actor may not know of, and `forbidden`.
 */
export interface Guard {
  stack(actor: Actor, params: { account: string; stack: string }, needed: Role): Promise<Stack>;
  /** A stack that something else led to, e.g. a webhook. */
  stackByKey(actor: Actor, key: string, needed: Role): Promise<Stack>;
  run(actor: Actor, id: string, needed: Role): Promise<{ run: Run; stack: Stack }>;
  /** Whether the run is still there and the actor may (still) read it. */
  reads(actor: Actor, runId: string): Promise<boolean>;
  /** What the actor may do there, as a read may know it; null: not even know of it. */
  roleOn(actor: Actor, place: Place): Promise<Role | null>;
  /** Whether GitHub is asked what the actor may do. */
  isAskedLive(actor: Actor): boolean;
  administers(actor: Actor, stack: Stack): Promise<boolean>;
}

export function createGuard(parts: {
  access: Access;
  stacks: Pick<StackStore, 'find' | 'findByKey'>;
  runs: Pick<RunStore, 'find'>;
}): Guard {
  const { access, stacks, runs } = parts;

  async function allowed(actor: Actor, stack: Stack | null, needed: Role): Promise<Stack> {
    if (!stack) throw notFound();
    const role = await access.require(actor, stack, needed);
    if (role === null) throw notFound();
    return stack;
  }

  async function stackByKey(actor: Actor, key: string, needed: Role): Promise<Stack> {
    return allowed(actor, await stacks.findByKey(key), needed);
  }

  async function roleOn(actor: Actor, place: Place): Promise<Role | null> {
    return access.require(actor, place, 'reader');
  }

  return {
    stack: async (actor, params, needed) =>
      allowed(actor, await stacks.find(params.account, params.stack), needed),
    stackByKey,
    async run(actor, id, needed) {
      const run = await runs.find(id);
      if (!run) throw notFound();
      return { run, stack: await stackByKey(actor, run.stackKey, needed) };
    },
    async reads(actor, runId) {
      const run = await runs.find(runId);
      const stack = run && (await stacks.findByKey(run.stackKey));
      return stack !== null && (await roleOn(actor, stack)) !== null;
    },
    roleOn,
    isAskedLive: (actor) => actor.kind === 'person' && !access.isInstanceAdmin(actor),
    async administers(actor, stack) {
      const role = await roleOn(actor, stack);
      return role !== null && includesRole(role, 'admin');
    },
  };
}

/** For queries that can leave out early what a token cannot see anyway; null = ask for each row. */
export function onlyAccountOf(actor: Actor): string | null {
  return actor.kind === 'token' ? actor.account : null;
}
