import { cutMarkdown } from '../cut-markdown.ts';
import { type PolicyLine, policyMarkdown } from '../policy-lines.ts';
import { codeSpan } from '../shown-text.ts';
import { maxCommentLength } from './issue-comment.ts';
import { rowsOf, type StackView } from './rows.ts';
import { type TableSettings, tableOf } from './table.ts';

/** What the one comment of a pull request says. */
export interface CommentView {
  readonly repositoryId: number;
  readonly number: number;
  readonly stacks: readonly StackView[];
  /** What policies had against its runs; only of stacks that show details. */
  readonly objections: readonly Objection[];
  /** What the latest command was answered, in markdown. */
  readonly answer: string | null;
}

export interface Objection {
  readonly stackId: string;
  readonly runId: string;
  /** One at least. */
  readonly lines: readonly PolicyLine[];
}

export interface CommentSettings extends TableSettings {
  /** Of the pull request: every run has its check there, however many there are. */
  readonly checksUrl: string;
  /** False with SANDBOX=none, which must be shown wherever a run is shown. */
  readonly isSandboxed: boolean;
}

/** Of a comment, the rest is for the table. */
const longestAnswer = 24_000;
const longestObjections = 12_000;

/** Not shown: by it a comment whose creation we did not hear of is found again. */
export const markerOf = ({ repositoryId, number }: Pick<CommentView, 'repositoryId' | 'number'>): string =>
  `<!-- slipway:pull-request:${repositoryId}:${number} -->`;

/** Null when there is nothing to say. Pure. */
export function commentBody(view: CommentView, settings: CommentSettings): string | null {
  const rows = rowsOf(view.stacks);
  if (rows.length === 0 && view.answer === null) return null;
  const above = [
    `${markerOf(view)}\n### Slipway`,
    ...(settings.isSandboxed ? [] : ['**This server runs the tools without a sandbox.**']),
  ].join('\n\n');
  const answer =
    view.answer === null ? '' : `\n\n---\n\n${cutMarkdown(view.answer, longestAnswer, cutAnswer)}`;
  const below = `${objectionText(view.objections, settings)}${answer}`;
  if (rows.length === 0) return `${above}${below}`;

  const rest = (runs: number) =>
    `\n\n${runs} more ${runs === 1 ? 'run does' : 'runs do'} not fit here: [see the checks](${settings.checksUrl}).`;
  const all = rows.reduce((count, { members }) => count + members.length, 0);
  const room = maxCommentLength - above.length - below.length - rest(all).length - '\n\n'.length;
  const { table, left } = tableOf(rows, room, settings);
  return `${above}\n\n${table}${left > 0 ? rest(left) : ''}${below}`;
}

function objectionText(objections: readonly Objection[], { publicUrl }: CommentSettings): string {
  if (objections.length === 0) return '';
  const texts = objections.map(({ stackId, runId, lines }) => {
    const run = `[run of ${codeSpan(stackId, longestName)}](${publicUrl}/runs/${runId})`;
    return `${run}\n\n${policyMarkdown(lines) ?? ''}`;
  });
  return `\n\n${cutMarkdown(texts.join('\n\n'), longestObjections, cutObjections)}`;
}

const longestName = 100;
const cutObjections = 'Policies have said more; see the runs.';
const cutAnswer = 'The answer is longer than a comment may be; its end is left out.';
