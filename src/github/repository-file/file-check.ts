import { type FileProblem, maxProblems } from '../../stacks/file-problems.ts';
import { repositoryFilePath } from '../../stacks/managed.ts';
import type { ManagedChanges } from '../../stacks/managed-stacks.ts';
import type { CheckRunBody } from '../feedback/check-run.ts';
import { quoted } from '../feedback/quoted.ts';

/** What came of the repository file at a commit. */
export type FileVerdict =
  | { readonly kind: 'applied'; readonly changes: ManagedChanges }
  | { readonly kind: 'removed'; readonly released: readonly string[] }
  | { readonly kind: 'refused'; readonly problems: readonly FileProblem[] };

/** Tells check runs of files from those of runs, when GitHub gives them back. */
export const fileCheckPrefix = 'file:';

/** GitHub takes no more with one request. */
const maxAnnotations = 50;
/** GitHub takes 65,535 characters for all of it. */
const maxListLength = 50_000;

/** What GitHub shall show of the file, on the commit where it was read. Pure. */
export function fileCheckOf(
  verdict: FileVerdict,
  about: { readonly id: string; readonly commit: string; readonly fileUrl: string; readonly nowMs: number },
): CheckRunBody {
  const now = new Date(about.nowMs).toISOString();
  return {
    name: repositoryFilePath,
    head_sha: about.commit,
    external_id: about.id,
    details_url: about.fileUrl,
    status: 'completed',
    conclusion: verdict.kind === 'refused' ? 'failure' : 'success',
    started_at: now,
    completed_at: now,
    output: verdict.kind === 'refused' ? refusal(verdict.problems) : success(verdict),
    actions: [],
  };
}

function refusal(problems: readonly FileProblem[]): CheckRunBody['output'] {
  const list = problems.map(({ line, column, message }) => `line ${line}, column ${column}: ${message}`);
  const count =
    problems.length > maxProblems ? `${maxProblems}+ problems` : counted(problems.length, 'problem');
  return {
    title: `${count}: the file is not in force`,
    summary: [
      'Nothing was changed. The stacks of this repository keep the settings they had, and runs start by those.',
      quoted(list.join('\n'), maxListLength),
    ].join('\n\n'),
    annotations: problems.slice(0, maxAnnotations).map(({ line, column, message }) => ({
      path: repositoryFilePath,
      start_line: line,
      end_line: line,
      start_column: column,
      end_column: column,
      annotation_level: 'failure',
      message,
    })),
  };
}

function success(verdict: Exclude<FileVerdict, { kind: 'refused' }>): CheckRunBody['output'] {
  if (verdict.kind === 'removed') {
    const { released } = verdict;
    return {
      title: `The file is gone: ${counted(released.length, 'stack')} released`,
      summary:
        listed('Released: changed by API and command line from now on', released) || 'No stack was its.',
    };
  }
  const { created, changed, unchanged, released } = verdict.changes;
  const total = created.length + changed.length + unchanged.length;
  const news = Object.entries({ created, changed, released }).filter(([, ids]) => ids.length > 0);
  return {
    title: [counted(total, 'stack'), ...news.map(([what, ids]) => `${ids.length} ${what}`)].join(', '),
    summary: [
      listed('Created', created),
      listed('Changed', changed),
      listed('Released: changed by API and command line from now on', released),
      listed('Unchanged', unchanged),
    ]
      .filter((part) => part !== '')
      .join('\n\n'),
  };
}

/** Ids of stacks are letters, digits and hyphens: nothing that Markdown could read. */
const listed = (what: string, ids: readonly string[]): string =>
  ids.length === 0 ? '' : `${what}: ${ids.join(', ')}`.slice(0, maxListLength);

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
