import type { Run, RunType } from '../../../runs/run.ts';
import { htmlCode } from '../shown-text.ts';
import { deltaSigns, wordingOf } from '../wording.ts';
import type { Row } from './rows.ts';

export interface TableSettings {
  readonly publicUrl: string;
  /** The hash of the newest commit of the pull request; null when it is not known. */
  readonly headHash: string | null;
}

/**
 * As HTML: in it no name can end a cell, and inside `code` GitHub makes neither mentions nor links. Rows that do not
 * fit into `limit` characters are left out; `left` counts their runs.
 */
export function tableOf(
  rows: readonly Row[],
  limit: number,
  settings: TableSettings,
): { readonly table: string; readonly left: number } {
  const shown: string[] = [];
  let room = limit - head.length - foot.length - 2;
  for (const row of rows) {
    const line = lineOf(row, settings);
    room -= line.length + 1;
    if (room < 0) break;
    shown.push(line);
  }
  const left = rows.slice(shown.length).reduce((count, { members }) => count + members.length, 0);
  return { table: [head, ...shown, foot].join('\n'), left };
}

const columns = ['Stack', 'Run', 'State', 'Changes', 'Commit'];
const head = `<table>\n<tr>${columns.map((name) => `<th>${name}</th>`).join('')}</tr>`;
const foot = '</table>';

function lineOf(row: Row, settings: TableSettings): string {
  const { run } = row;
  const cells = [
    namesOf(row, settings.publicUrl),
    kinds[run.type],
    stateOf(run),
    run.delta ? `<code>${deltaSigns(run.delta)}</code>` : '',
    commitOf(run, settings.headHash),
  ];
  return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
}

const kinds: Readonly<Record<RunType, string>> = {
  PROPOSED: 'preview',
  TRACKED: 'deployment',
  TASK: 'task',
  DESTROY: 'tear-down',
};

/** A name that is longer is no stack's. */
const longestName = 100;
/** Of many stacks whose plans are alike, so many by name. */
const maxNames = 20;

function namesOf({ members }: Row, publicUrl: string): string {
  const named = members.slice(0, maxNames).map(({ stackId, run }) => {
    return link(`${publicUrl}/runs/${run.id}`, htmlCode(stackId, longestName));
  });
  if (members.length === 1) return named.join('');
  const rest = members.length - named.length;
  return `${members.length} stacks: ${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

function stateOf(run: Run): string {
  const { headline, sentence } = wordingOf(run);
  const note = run.isUntrusted ? ', without secrets' : '';
  // Only of a failure the state does not say enough.
  if (run.state === 'FAILED') return `<b>${headline}</b>${note}. ${sentence}`;
  const needsSomebody = run.state === 'UNCONFIRMED' || run.state === 'PENDING_REVIEW';
  return `${needsSomebody ? `<b>${headline}</b>` : headline}${note}`;
}

function commitOf({ type, commit }: Run, headHash: string | null): string {
  const shown = link(commit.url, htmlCode(commit.hash.slice(0, 7), 7));
  // What is deployed may well be the merge.
  const isOld = type === 'PROPOSED' && headHash !== null && headHash !== commit.hash;
  return isOld ? `${shown} (not the newest)` : shown;
}

const longestUrl = 1000;

function link(url: string, html: string): string {
  if (url.length > longestUrl || !/^https?:\/\/[^\s"<>]+$/.test(url)) return html;
  return `<a href="${url.replaceAll('&', '&amp;')}">${html}</a>`;
}
