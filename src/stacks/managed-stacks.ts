import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { Tx } from '../tx.ts';
import { maxVariables } from './environment.ts';
import { createFileProblems, type FileProblem, type FileProblems } from './file-problems.ts';
import type { Repository } from './repository.ts';
import type { WantedStack, WantedVariable } from './repository-file-entry.ts';
import type { Stack } from './stack.ts';
import type { StackStore } from './stack-store.ts';

/** Ids of the repository's stacks, by what became of them. */
export interface ManagedChanges {
  readonly created: readonly string[];
  /** Settings, variables, or that the file manages them at all. */
  readonly changed: readonly string[];
  readonly unchanged: readonly string[];
  /** Not in the file any more: as they were last, and changed by API and command line from now on. */
  readonly released: readonly string[];
}

export type ManagedOutcome =
  | { readonly kind: 'applied'; readonly changes: ManagedChanges }
  /** Nothing was changed. */
  | { readonly kind: 'refused'; readonly problems: readonly FileProblem[] };

/** Makes the stacks of a repository what its file wants: all of it or nothing. */
export interface ManagedStacks {
  apply(tx: Tx, repository: Repository, wanted: readonly WantedStack[]): Promise<ManagedOutcome>;
}

export function createManagedStacks(parts: {
  store: StackStore;
  /** Other policies may judge the stack by now. */
  onRelabeled: (tx: Tx, stackKey: string) => Promise<void>;
  clock: Clock;
  newId: NewId;
}): ManagedStacks {
  const { store, clock, newId } = parts;

  async function refuseConflicts(
    tx: Tx,
    { accountId }: Repository,
    wanted: WantedStack,
    own: Stack | undefined,
    problems: FileProblems,
  ): Promise<void> {
    if (!own) {
      const other = await store.findInAccount(accountId, wanted.id, tx);
      // Which repository it is must not be told to everybody who can read this one.
      const message = `the stack ${wanted.id} belongs to another repository of the account; choose another name`;
      if (other) problems.add(wanted.at, message);
      return;
    }
    const now = await store.environment(own.key, tx);
    const secrets = new Set(now.filter(({ secret }) => secret).map(({ name }) => name));
    for (const { name, at } of wanted.environment) {
      if (!secrets.has(name)) continue;
      problems.add(at, `${name} is set as a secret of the stack; remove that first, or this line`);
    }
    const names = new Set(wanted.environment.map(({ name }) => name));
    const others = now.filter(({ name, managedBy }) => managedBy !== 'file' && !names.has(name)).length;
    if (names.size > 0 && others + names.size > maxVariables) {
      const message = `the stack has ${others} variables beside those of the file; together it may have ${maxVariables} at most`;
      problems.add(wanted.at, message);
    }
  }

  async function create(tx: Tx, repository: Repository, wanted: WantedStack): Promise<void> {
    const key = newId();
    const { id, settings } = wanted;
    const place = { accountId: repository.accountId, repositoryId: repository.id };
    const made = { key, id, ...place, settings, managedBy: 'file', createdAtMs: clock.nowMs() } as const;
    const inserted = await store.insert(tx, made);
    if (inserted === 'exists') throw new Error(`the stack ${id} was looked for in this transaction`);
    await setVariables(tx, key, wanted.environment);
  }

  /** Whether anything was different. */
  async function update(tx: Tx, stack: Stack, wanted: WantedStack): Promise<boolean> {
    const isManaged = stack.managedBy === 'file';
    const isSame = isDeepStrictEqual(stack.settings, wanted.settings);
    if (!isManaged) await store.setManagedBy(tx, stack.key, 'file');
    if (!isSame) await store.updateSettings(tx, stack.key, wanted.settings);
    if (!isDeepStrictEqual(stack.settings.labels, wanted.settings.labels)) {
      await parts.onRelabeled(tx, stack.key);
    }
    const hasSet = await setVariables(tx, stack.key, wanted.environment);
    return !isManaged || !isSame || hasSet;
  }

  /** Whether anything was different. */
  async function setVariables(tx: Tx, key: string, wanted: readonly WantedVariable[]): Promise<boolean> {
    const before = await store.environment(key, tx);
    const names = new Set(wanted.map(({ name }) => name));
    const gone = before.filter(({ name, managedBy }) => managedBy === 'file' && !names.has(name));
    for (const { name } of gone) await store.removeVariable(tx, key, name);
    let isChanged = gone.length > 0;
    for (const { name, value } of wanted) {
      const variable = { name, value, secret: false, access: 'all', managedBy: 'file' } as const;
      if (before.some((known) => isDeepStrictEqual(known, variable))) continue;
      await store.putVariable(tx, key, variable);
      isChanged = true;
    }
    return isChanged;
  }

  /** Its variables stay, too: it goes on as it was, until somebody changes it. */
  async function release(tx: Tx, { key }: Stack): Promise<void> {
    await store.setManagedBy(tx, key, null);
    for (const { managedBy, ...variable } of await store.environment(key, tx)) {
      if (managedBy) await store.putVariable(tx, key, variable);
    }
  }

  return {
    async apply(tx, repository, wanted) {
      const own = new Map((await store.ofRepository(repository.id, tx)).map((stack) => [stack.id, stack]));
      const problems = createFileProblems();
      for (const each of wanted) {
        await refuseConflicts(tx, repository, each, own.get(each.id), problems);
      }
      if (!problems.isEmpty) return { kind: 'refused', problems: problems.all() };

      const [created, changed, unchanged]: [string[], string[], string[]] = [[], [], []];
      for (const each of wanted) {
        const stack = own.get(each.id);
        if (!stack) {
          await create(tx, repository, each);
          created.push(each.id);
        } else {
          ((await update(tx, stack, each)) ? changed : unchanged).push(each.id);
        }
      }
      const kept = new Set(wanted.map(({ id }) => id));
      const leaving = [...own.values()].filter(({ id, managedBy }) => managedBy === 'file' && !kept.has(id));
      for (const stack of leaving) await release(tx, stack);
      return {
        kind: 'applied',
        changes: { created, changed, unchanged, released: leaving.map(({ id }) => id) },
      };
    },
  };
}
