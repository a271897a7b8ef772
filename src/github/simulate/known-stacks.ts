import { z } from 'zod';
import { repositoryFilePath } from '../../stacks/managed.ts';
import { parseRepositoryFile } from '../../stacks/repository-file.ts';
import type { EntryRules } from '../../stacks/repository-file-entry.ts';
import type { ManagedBy, Stack, StackSettings } from '../../stacks/stack.ts';
import { completeSettings, stackIdOf, stackSettingsInput } from '../../stacks/stack-input.ts';
import { fieldIssues, UserError } from '../../user-error.ts';
import { type RepositoryJson, toRepository } from '../github-json.ts';

// As the API shows stacks: what else it shows is of no interest here.
const listed = z.looseObject({
  ...stackSettingsInput.omit({ vendor: true, hooks: true }).shape,
  id: z.string().min(1).optional(),
  repository: z.string().optional(),
});
const list = z.union([z.array(listed), z.object({ items: z.array(listed) }).transform(({ items }) => items)]);

export interface StackSources {
  readonly repository: RepositoryJson;
  readonly vendors: EntryRules['vendors'];
  readonly file: Uint8Array | null;
  /** Stacks that no file manages: an array as `slipway stack list --json` prints it, in `items` or bare. */
  readonly others: unknown;
}

/** The stacks that the repository would have. Throws `invalid-input` for a file or a list that cannot be read. */
export function knownStacks({ repository, vendors, file, others }: StackSources): readonly Stack[] {
  const fromFile = file === null ? [] : wantedBy(file, { vendors, defaultBranch: repository.default_branch });
  const stacks = fromFile.map(({ id, settings }) => stackOf(repository, id, settings, 'file'));
  const ids = new Set(stacks.map(({ id }) => id));
  const listed = others === undefined ? [] : otherStacks(others, repository);
  // The file decides over API and command line.
  return [...stacks, ...listed.filter(({ id }) => !ids.has(id))];
}

function wantedBy(file: Uint8Array, rules: EntryRules) {
  const parsed = parseRepositoryFile(file, rules);
  if (parsed.kind === 'wanted') return parsed.stacks;
  const [first] = parsed.problems;
  const where = first ? `:${first.line}:${first.column}: ${first.message}` : '';
  throw new UserError('invalid-input', `${repositoryFilePath}${where}`, {
    hint: '`slipway stack check-file` lists everything that is wrong with it.',
  });
}

function otherStacks(others: unknown, repository: RepositoryJson): readonly Stack[] {
  const parsed = list.safeParse(others);
  if (!parsed.success) {
    const entries = Array.isArray(others) ? z.array(listed).safeParse(others) : parsed;
    const [issue] = fieldIssues(entries.error?.issues ?? []);
    throw new UserError(
      'invalid-input',
      `--stacks: ${issue?.path || 'the list'}: ${issue?.message ?? 'not valid'}`,
      {
        hint: '`slipway stack list --json` prints what it may be.',
      },
    );
  }
  const own = parsed.data.filter(
    (each) => each.repository === undefined || each.repository === repository.full_name,
  );
  return own.map(({ id, repository: _, ...given }) => {
    const settings = completeSettings(given, {}, repository.default_branch);
    return stackOf(repository, id ?? stackIdOf(given.name), settings, null);
  });
}

function stackOf(
  json: RepositoryJson,
  id: string,
  settings: StackSettings,
  managedBy: ManagedBy | null,
): Stack {
  return {
    key: id,
    account: json.owner.login,
    id,
    repository: toRepository(json, 0),
    settings,
    lock: null,
    managedBy,
    createdAtMs: 0,
  };
}
