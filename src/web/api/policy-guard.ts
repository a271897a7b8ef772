import type { Actor } from '../../access/actor.ts';
import type { Access } from '../../access/roles.ts';
import { isAttachable, type Policies } from '../../policies/policies.ts';
import type { Policy, PolicyKind } from '../../policies/policy.ts';
import type { StackStore } from '../../stacks/stack-store.ts';
import { UserError } from '../../user-error.ts';
import { notFound } from '../problem.ts';
import type { Guard } from './guard.ts';
import { type StackRoles, stackRoles } from './stack-roles.ts';

/**
 * How a route gets at a policy. Those of stacks are managed by administrators of their account (of the instance, or a
 * token), and read by whoever reads a stack that they judge; the others are business of the instance's administrators.
 */
export interface PolicyGuard {
  /** Throws `not-found` for what the actor may not know of. */
  readable(actor: Actor, id: string): Promise<Policy>;
  /** Throws `forbidden`, too. */
  managed(actor: Actor, id: string): Promise<Policy>;
  /** `account`: its login; null for one of the instance. */
  manages(actor: Actor, kind: PolicyKind, account: string | null): boolean;
  /** Whether there are policies that the actor manages. */
  managesSome(actor: Actor): boolean;
  /** For many policies in one answer. */
  reader(actor: Actor): PolicyReader;
}

export interface PolicyReader {
  reads(policy: Policy): Promise<boolean>;
  /** As StackRoles has it. */
  isSpent(): boolean;
}

export function createPolicyGuard(parts: {
  readonly access: Pick<Access, 'isInstanceAdmin'>;
  readonly guard: Guard;
  readonly policies: Pick<Policies, 'find' | 'stacksOf'>;
  readonly stackStore: Pick<StackStore, 'findAll'>;
}): PolicyGuard {
  const { access, guard, policies, stackStore } = parts;

  function manages(actor: Actor, kind: PolicyKind, account: string | null): boolean {
    if (access.isInstanceAdmin(actor)) return true;
    if (actor.kind !== 'token' || actor.role !== 'admin' || !isAttachable(kind)) return false;
    return account !== null && actor.account?.toLowerCase() === account.toLowerCase();
  }

  async function readsStackOf(policy: Policy, roles: StackRoles): Promise<boolean> {
    if (!isAttachable(policy.kind)) return false;
    const judged = await stackStore.findAll(await policies.stacksOf(policy.id));
    for (const [index, stack] of judged.entries()) {
      if (roles.isSpent()) return false;
      if ((await roles.roleOn(stack, judged.slice(index + 1))) !== null) return true;
    }
    return false;
  }

  function reader(actor: Actor): PolicyReader {
    const roles = stackRoles(guard, actor);
    return {
      reads: async (policy) =>
        manages(actor, policy.kind, policy.account?.login ?? null) || readsStackOf(policy, roles),
      isSpent: roles.isSpent,
    };
  }

  async function readable(actor: Actor, id: string): Promise<Policy> {
    const policy = await policies.find(id);
    if (!policy || !(await reader(actor).reads(policy))) throw notFound();
    return policy;
  }

  return {
    readable,
    reader,
    manages,
    managesSome: (actor) =>
      access.isInstanceAdmin(actor) || (actor.kind === 'token' && actor.role === 'admin'),
    async managed(actor, id) {
      const policy = await readable(actor, id);
      if (!manages(actor, policy.kind, policy.account?.login ?? null)) throw needsAccountAdmin();
      return policy;
    },
  };
}

export function needsAccountAdmin(): UserError {
  return new UserError('forbidden', 'This needs an administrator of the account of the policy.', {
    hint: 'That is an administrator of this server, or an admin token of the account.',
  });
}
