import { changesOf, type ResourceChange } from '../../runs/plan/plan-changes.ts';
import { visible } from '../../runs/plan/visible-text.ts';
import { propertyLines } from './property-lines.ts';
import { fenced, htmlCode } from './shown-text.ts';

/** GitHub takes 65,535 characters; there are never more of them than bytes, however it counts. */
export const maxTextBytes = 65_535;
/** For the table; the rest is for details. */
const tableShare = 0.4;
const longestName = 150;

/**
 * A plan for people: a table of the resources that change, then how each differs. Null when nothing changes.
 * Pure, bounded in size and work: what does not fit is counted, not looked at. Nothing that a plan holds is read as
 * markdown or HTML, or mentions anybody.
 */
export function planMarkdown(
  steps: readonly unknown[],
  { detailsUrl, maxBytes = maxTextBytes }: { readonly detailsUrl: string; readonly maxBytes?: number },
): string | null {
  const changes = [...changesOf(steps)];
  if (changes.length === 0) return null;
  const table = tableOf(changes, maxBytes * tableShare);
  const moreOf = (count: number) =>
    `The details of ${counted(count)} do not fit here: [open the run](${detailsUrl}).`;
  const details = detailsOf(changes, maxBytes - sizeOf(table) - sizeOf(moreOf(changes.length)) - 2);
  const rest = changes.length - details.length;
  return [table, ...details, ...(rest > 0 ? [moreOf(rest)] : [])].join('\n\n');
}

function tableOf(changes: readonly ResourceChange[], maxBytes: number): string {
  const head = '<table>\n<tr><th>Change</th><th>Resource</th><th>Type</th></tr>';
  const foot = '</table>';
  const rows: string[] = [];
  let left = maxBytes - sizeOf(head) - sizeOf(foot) - 2;
  for (const change of changes) {
    const row = rowOf(change);
    left -= sizeOf(row) + 1;
    if (left < 0) break;
    rows.push(row);
  }
  const rest = changes.length - rows.length;
  const more = rest > 0 ? [`<tr><td colspan="3">and ${counted(rest)}</td></tr>`] : [];
  return [head, ...rows, ...more, foot].join('\n');
}

function rowOf({ op, name, type }: ResourceChange): string {
  return `<tr><td>${words[op]}</td><td>${htmlCode(name, longestName)}</td><td>${htmlCode(type, longestName)}</td></tr>`;
}

const words: Readonly<Record<ResourceChange['op'], string>> = {
  create: 'create',
  update: 'update',
  delete: '<b>delete</b>',
  replace: '<b>replace</b>',
  move: 'move',
  outputs: 'outputs',
};

const noLines: Readonly<Record<ResourceChange['op'], string>> = {
  create: 'It has no inputs.',
  update: 'Its inputs stay as they are.',
  delete: 'It has no inputs.',
  replace: 'Its inputs stay as they are.',
  move: 'It stays as it is.',
  outputs: 'Its outputs stay as they are.',
};

function detailsOf(changes: readonly ResourceChange[], maxBytes: number): readonly string[] {
  const all: string[] = [];
  let left = maxBytes;
  for (const change of changes) {
    const details = ofOne(change);
    left -= sizeOf(details) + 2;
    if (left < 0) break;
    all.push(details);
  }
  return all;
}

function ofOne({ op, name, type, movedFrom, ...sides }: ResourceChange): string {
  const lines = [...movedLines(movedFrom), ...propertyLines(sides.old, sides.new)];
  const diff = lines.length > 0 ? fenced('diff', lines) : noLines[op];
  const summary = `${words[op]} ${htmlCode(name, longestName)} ${htmlCode(type, longestName)}`;
  return `<details><summary>${summary}</summary>\n\n${diff}\n\n</details>`;
}

/** Of what the program calls by another name. */
const movedLines = (movedFrom: string | null): readonly string[] =>
  movedFrom === null ? [] : [`  moved from: ${visible(movedFrom, longestName)}`];

const counted = (count: number): string => `${count} more ${count === 1 ? 'resource' : 'resources'}`;

const sizeOf = (text: string): number => Buffer.byteLength(text);
