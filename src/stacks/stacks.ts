import { isDeepStrictEqual } from 'node:util';
import { type Actor, actorKey, actorName } from '../access/actor.ts';
import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import { type Transactions, type Tx, within } from '../tx.ts';
import { UserError } from '../user-error.ts';
import type { EnvironmentVariable } from './environment.ts';
import { refuseManaged } from './managed.ts';
import type { RepositoryDirectory, RepositoryStore } from './repository-store.ts';
import { isLockedFor, type Stack, type StackLock, type StackSettings, vendorName } from './stack.ts';
import {
  completeSettings,
  type NewStackInput,
  newStackInput,
  parseInput,
  parseVendorSettings,
  present,
  type StackPatchInput,
  stackIdOf,
  stackPatchInput,
} from './stack-input.ts';
import type { StackStore } from './stack-store.ts';
import type { VendorRules } from './vendor-settings.ts';

/**
 * Creating and changing stacks. Rights are the caller's business; the rules of the input, of repositories
 * and of locks are here, the same for API, CLI and UI.
 */
export interface Stacks {
  /** What the input would make, without making it: its repository is asked for live. */
  prepare(input: NewStackInput): Promise<PreparedStack>;
  /** Rejects with `stack-exists`. */
  create(prepared: PreparedStack): Promise<Stack>;
  /**
   * Settings of a run that is under way do not change with it. Rejects with `managed-by-file`. `check` sees the stack as
   * it is inside the transaction; what it throws ends it.
   */
  update(stack: Stack, patch: StackPatchInput, check?: (now: Stack) => void): Promise<Stack>;
  /** Rejects with `locked` when somebody else holds the lock. A part of the transaction, if one is given. */
  lock(stack: Stack, holder: Actor, reason: string, tx?: Tx): Promise<void>;
  /**
   * Takes away the lock that `stack` shows: rights were judged on it. Rejects with `locked` when there is
   * another by now. A part of the transaction, if one is given.
   */
  unlock(stack: Stack, tx?: Tx): Promise<void>;
}

export interface PreparedStack {
  readonly account: Parameters<RepositoryStore['saveAccount']>[1];
  readonly repository: Parameters<RepositoryStore['saveRepository']>[1];
  readonly id: string;
  readonly settings: StackSettings;
}

export function createStacks(parts: {
  store: StackStore;
  repositories: RepositoryStore;
  directory: RepositoryDirectory;
  vendors: readonly Pick<VendorRules, 'name' | 'schema' | 'refusesVariable'>[];
  transactions: Transactions;
  clock: Clock;
  newId: NewId;
  /** Called after a lock was taken away: runs may go on. */
  onUnlock: (stackKey: string) => void;
  /** Other policies may judge it by now. Called in the transaction that gave it other labels. */
  onRelabeled: (tx: Tx, stackKey: string) => Promise<void>;
}): Stacks {
  const { store, repositories, transactions, clock, newId } = parts;

  async function reread(key: string): Promise<Stack> {
    const stack = await store.findByKey(key);
    if (!stack) throw new UserError('not-found', 'The stack no longer exists.');
    return stack;
  }

  /** A stack may get another tool, which goes by other variables. */
  function refuseVariables(tool: string, variables: readonly EnvironmentVariable[]): void {
    const vendor = parts.vendors.find(({ name }) => name === tool);
    const refused = variables.find(({ name }) => vendor?.refusesVariable(name));
    if (!refused) return;
    throw new UserError('environment-name-refused', `The stack has a variable that ${tool} must not get.`, {
      hint: 'Remove it first.',
      issues: [{ path: 'vendor', message: `the variable ${refused.name} of the stack stands against it` }],
    });
  }

  return {
    async prepare(input) {
      const given = parseInput(newStackInput, input);
      const vendor = parseVendorSettings(given.vendor, parts.vendors);
      const id = stackIdOf(given.name);
      const found = await parts.directory.lookUp(given.repository);
      if (!found) {
        throw new UserError(
          'repository-not-installed',
          `The GitHub App is not installed on ${given.repository}.`,
          {
            hint: 'Install it there, or check the spelling.',
            issues: [{ path: 'repository', message: 'not installed' }],
          },
        );
      }
      const { repository: _, vendor: __, ...rest } = given;
      const settings = completeSettings(rest, vendor, found.repository.defaultBranch);
      return { ...found, id, settings };
    },

    async create(prepared) {
      const { account, repository, id, settings } = prepared;
      const key = newId();
      const inserted = await transactions.write(async (tx) => {
        await repositories.saveAccount(tx, account);
        await repositories.saveRepository(tx, repository);
        return store.insert(tx, {
          key,
          id,
          accountId: account.id,
          repositoryId: repository.id,
          settings,
          createdAtMs: clock.nowMs(),
        });
      });
      if (inserted === 'exists') {
        throw new UserError('stack-exists', `The account ${account.login} has a stack ${id} already.`, {
          hint: 'Choose another name, or change the existing stack.',
        });
      }
      return reread(key);
    },

    async update(stack, input, check) {
      const patch = parseInput(stackPatchInput, input);
      const { hooks, vendor: givenVendor, ...rest } = patch;
      const vendor = givenVendor && parseVendorSettings(givenVendor, parts.vendors);
      await transactions.write(async (tx) => {
        // As they are now: somebody else may have changed other fields since `stack` was read.
        const found = await store.findByKey(stack.key, tx);
        if (!found) return;
        check?.(found);
        refuseManaged(found);
        const now = found.settings;
        if (vendor && vendorName(vendor) !== vendorName(now.vendor)) {
          refuseVariables(vendorName(vendor), await store.environment(stack.key, tx));
        }
        const settings: StackSettings = {
          ...now,
          ...present(rest),
          ...(vendor ? { vendor } : {}),
          hooks: { ...now.hooks, ...present(hooks ?? {}) },
        };
        await store.updateSettings(tx, stack.key, settings);
        if (!isDeepStrictEqual(now.labels, settings.labels)) await parts.onRelabeled(tx, stack.key);
      });
      return reread(stack.key);
    },

    async lock(stack, actor, reason, given) {
      const holder = { holder: actorName(actor), holderKey: actorKey(actor), kind: 'person' } as const;
      await within(transactions, given, async (tx) => {
        const now = await store.findByKey(stack.key, tx);
        if (now && isLockedFor(now.lock, holder.holderKey)) throw locked(now.lock);
        await store.setLock(tx, stack.key, { ...holder, reason, run: null, sinceMs: clock.nowMs() });
      });
    },

    async unlock(stack, given) {
      await within(transactions, given, async (tx) => {
        const lock = (await store.findByKey(stack.key, tx))?.lock;
        if (!lock) return;
        const seen = stack.lock;
        if (lock.holderKey !== seen?.holderKey || lock.sinceMs !== seen.sinceMs) throw locked(lock);
        await store.setLock(tx, stack.key, lock.covers ?? null);
        tx.afterCommit(() => parts.onUnlock(stack.key));
      });
    },
  };
}

function locked({ holder, reason }: StackLock): UserError {
  return new UserError('locked', `The stack is locked by ${holder}: ${reason || 'no reason given'}`);
}
