import { type Actor, actorName } from '../access/actor.ts';
import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { Stack } from '../stacks/stack.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import type { Transactions, Tx } from '../tx.ts';
import { UserError } from '../user-error.ts';
import type { SourceCheck } from './check-source.ts';
import { attachesByLabel, autoattach, digestOf, type Policy, type PolicyKind } from './policy.ts';
import type { PolicyFilter, PolicyStore, PolicyVersion } from './policy-store.ts';

/**
 * Policies as people manage them. Nothing is saved that the engine did not compile. It refuses to know who asks: rights
 * are the caller's business.
 */
export interface Policies {
  find(id: string): Promise<Policy | null>;
  list(filter: PolicyFilter): Promise<readonly Policy[]>;
  /** Throws `policy-invalid`, `policy-engine-unavailable`, `policy-name-taken`, `policy-not-attachable`. */
  create(policy: NewPolicy, by: Actor): Promise<Saved>;
  /**
   * As `create`; what is left out stays; null when it is gone. `isAllowed` is asked inside the transaction, and throws.
   * Throws `precondition-failed` when the rest of the source is another than the one that was compiled with the change.
   */
  update(
    id: string,
    change: Partial<PolicyContent>,
    by: Actor,
    isAllowed: (now: Policy) => void,
  ): Promise<Saved | null>;
  remove(id: string, by: Actor, isAllowed: (now: Policy) => void): Promise<boolean>;
  versions(id: string): Promise<readonly PolicyVersion[]>;
  /** Throws `not-found` unless both are there and of one account, and `policy-not-attachable`. */
  attach(id: string, stackKey: string): Promise<Policy>;
  /** False when it does not judge the stack. Throws `policy-attached-by-label`. */
  detach(id: string, stackKey: string): Promise<boolean>;
  /** What judges a stack, in the order of kinds and names. */
  ofStack(stack: Stack): Promise<readonly AttachedPolicy[]>;
  /** Keys of the stacks that it judges, in their order. */
  stacksOf(id: string): Promise<readonly string[]>;
  /** Of those, the ones that it is attached to; the others have it by a label alone. */
  attachedTo(id: string): Promise<readonly string[]>;
}

export interface PolicyContent {
  readonly name: string;
  readonly description: string;
  readonly labels: readonly string[];
  readonly body: string;
  readonly regoVersion: Policy['regoVersion'];
}

export interface NewPolicy extends PolicyContent {
  readonly kind: PolicyKind;
  readonly account: Policy['account'];
}

export interface Saved {
  readonly policy: Policy;
  /** What is allowed and yet most likely not meant. */
  readonly hints: readonly string[];
}

export interface AttachedPolicy {
  readonly policy: Policy;
  /** `label`: by its labels alone, and so as long as they are so. */
  readonly by: 'attachment' | 'label';
}

/**
 * Something was decided anew, in the transaction that decides it. `stackKeys`: the stacks that it judged before or judges
 * now.
 */
export type OnPolicyChanged = (tx: Tx, policy: Policy, stackKeys: readonly string[]) => Promise<void>;

/** Who may log in was decided anew by somebody, in the transaction that decides it. */
export type OnLoginPolicyChanged = (tx: Tx, by: Actor) => Promise<unknown>;

/** Those of stacks; the others judge all of an account, or of the instance. */
export const attachableKinds = ['PLAN', 'PUSH', 'APPROVAL', 'TRIGGER'] as const satisfies PolicyKind[];
export const isAttachable = (kind: PolicyKind): boolean =>
  (attachableKinds as readonly PolicyKind[]).includes(kind);

export function createPolicies(parts: {
  readonly store: PolicyStore;
  readonly stacks: Pick<StackStore, 'findByKey'>;
  readonly check: SourceCheck;
  readonly onChanged: OnPolicyChanged;
  readonly onLoginPolicyChanged: OnLoginPolicyChanged;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly newId: NewId;
}): Policies {
  const { store, stacks, check, onChanged, onLoginPolicyChanged, transactions, clock, newId } = parts;

  /** With what they give way to: both are told. */
  async function changed(tx: Tx, policy: Policy, by: Actor, before: readonly string[] = []): Promise<void> {
    const now = await store.stacksOf(policy.id, tx);
    await onChanged(tx, policy, [...new Set([...before, ...now])]);
    if (policy.kind === 'LOGIN') await onLoginPolicyChanged(tx, by);
  }

  return {
    find: (id) => store.find(id),
    list: (filter) => store.list(filter),
    versions: (id) => store.versions(id),
    stacksOf: (id) => store.stacksOf(id),
    attachedTo: (id) => store.attachedTo(id),

    async create({ account, kind, ...content }, by) {
      requireLabels(kind, content.labels);
      const { rules, hints } = await check(kind, content);
      return transactions.write(async (tx) => {
        const nowMs = clock.nowMs();
        const policy: Policy = {
          ...{ id: newId(), account, kind, ...content, rules, version: 1, digest: digestOf(content) },
          ...{ createdAtMs: nowMs, updatedAtMs: nowMs, updatedBy: actorName(by) },
        };
        if ((await store.insert(tx, policy)) === 'name-taken') throw nameTaken(policy);
        await changed(tx, policy, by);
        return { policy, hints };
      });
    },

    async update(id, change, by, isAllowed) {
      const found = await store.find(id);
      if (!found) return null;
      isAllowed(found);
      const wanted = { ...found, ...change };
      requireLabels(found.kind, wanted.labels);
      const digest = digestOf(wanted);
      // What was compiled once need not be again: a policy can be renamed without an engine.
      const { rules, hints } =
        digest === found.digest ? { rules: found.rules, hints: [] } : await check(found.kind, wanted);
      return transactions.write(async (tx) => {
        const now = await store.find(id, tx);
        if (!now) return null;
        isAllowed(now);
        const updated = { updatedAtMs: clock.nowMs(), updatedBy: actorName(by) };
        const next = { ...now, ...change, rules, digest, ...updated };
        if (digestOf(next) !== digest) throw changedSince();
        const before = await store.stacksOf(id, tx);
        if ((await store.update(tx, next, now.version)) === 'name-taken') throw nameTaken(next);
        const policy = (await store.find(id, tx)) ?? next;
        await changed(tx, policy, by, before);
        return { policy, hints };
      });
    },

    remove: (id, by, isAllowed) =>
      transactions.write(async (tx) => {
        const policy = await store.find(id, tx);
        if (!policy) return false;
        isAllowed(policy);
        const before = await store.stacksOf(id, tx);
        await store.delete(tx, id);
        await changed(tx, policy, by, before);
        return true;
      }),

    attach: (id, stackKey) =>
      transactions.write(async (tx) => {
        const { policy } = await findBoth(tx, id, stackKey);
        requireAttachable(policy.kind);
        await store.attach(tx, id, stackKey);
        await onChanged(tx, policy, [stackKey]);
        return policy;
      }),

    detach: (id, stackKey) =>
      transactions.write(async (tx) => {
        const { policy, stack } = await findBoth(tx, id, stackKey);
        if (await store.detach(tx, id, stackKey)) {
          await onChanged(tx, policy, [stackKey]);
          return true;
        }
        if (attachesByLabel(policy, stack.settings.labels)) throw attachedByLabel(policy);
        return false;
      }),

    async ofStack({ key }) {
      const found: AttachedPolicy[] = [];
      for (const kind of attachableKinds) {
        for (const policy of await store.ofStack(key, kind)) {
          const isAttached = (await store.attachedTo(policy.id)).includes(key);
          found.push({ policy, by: isAttached ? 'attachment' : 'label' });
        }
      }
      return found;
    },
  };

  async function findBoth(tx: Tx, id: string, stackKey: string): Promise<{ policy: Policy; stack: Stack }> {
    const [policy, stack] = [await store.find(id, tx), await stacks.findByKey(stackKey, tx)];
    const isOne = policy?.account?.login.toLowerCase() === stack?.account.toLowerCase();
    if (policy && stack && (isOne || policy.account === null)) return { policy, stack };
    throw new UserError('not-found', 'The account of the stack has no such policy.');
  }
}

function requireAttachable(kind: PolicyKind): void {
  if (isAttachable(kind)) return;
  const what = kind === 'LOGIN' ? 'every login to this server' : 'everything that happens in its account';
  throw new UserError(
    'policy-not-attachable',
    `A ${kind} policy judges ${what}: it is attached to no stack.`,
  );
}

function requireLabels(kind: PolicyKind, labels: readonly string[]): void {
  if (labels.some((label) => label.startsWith(autoattach))) requireAttachable(kind);
}

function nameTaken({ name, account }: Policy): UserError {
  const whose = account === null ? 'This server' : account.login;
  const message = `${whose} has a policy called "${name}" already.`;
  return new UserError('policy-name-taken', message, { issues: [{ path: 'name', message }] });
}

function changedSince(): UserError {
  return new UserError('precondition-failed', 'The source was changed while yours was checked.', {
    hint: 'Load the policy again, look at what is new, and repeat your change.',
  });
}

function attachedByLabel({ name }: Policy): UserError {
  return new UserError('policy-attached-by-label', `"${name}" judges the stack because of a label.`, {
    hint: `Take the label off the stack, or the ${autoattach} label off the policy.`,
  });
}
