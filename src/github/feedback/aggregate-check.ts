import { isTerminal, type Run, type RunType } from '../../runs/run.ts';
import type { Stack } from '../../stacks/stack.ts';
import type { CheckRunBody } from './check-run.ts';
import { deltaSigns, wordingOf } from './wording.ts';

/** One check of a commit for all stacks of the repository that say so, instead of one for each run. */
export type AggregateKind = 'preview' | 'deploy';

/** What its item holds: only what cannot be read again. */
export interface AggregateWish {
  readonly commit: string;
  readonly kind: AggregateKind;
  readonly sinceMs: number;
  /** Why the commit starts nothing, by the key of the stack. */
  readonly unaffected: Readonly<Record<string, string>>;
  /** Keys of those that push policies, or policies that cannot be evaluated, have stopped. */
  readonly stopped?: readonly string[];
}

/** A stack's part in it. */
export interface AggregateRow {
  readonly stackId: string;
  /** Its newest run of the commit; else why there is none. */
  readonly run: Run | { readonly reason: string; readonly isStopped: boolean };
}

export const typesOfKind: Readonly<Record<AggregateKind, readonly RunType[]>> = {
  preview: ['PROPOSED'],
  deploy: ['TRACKED', 'TASK', 'DESTROY'],
};

export const kindOfType = (type: RunType): AggregateKind => (type === 'PROPOSED' ? 'preview' : 'deploy');

export const aggregateId = (repositoryId: number, commit: string, kind: AggregateKind): string =>
  `aggregate:${repositoryId}:${commit}:${kind}`;

/** Of the one that the run belongs to, where there is one. */
export const aggregateIdOf = (run: Run, { repository }: Pick<Stack, 'repository'>): string =>
  aggregateId(repository.id, run.commit.hash, kindOfType(run.type));

/** Null for the id of something else. */
export function parseAggregateId(
  id: string,
): { readonly repositoryId: number; readonly commit: string; readonly kind: AggregateKind } | null {
  const [, repositoryId, commit, kind] =
    /^aggregate:(\d+):([0-9a-f]{40,64}):(preview|deploy)$/.exec(id) ?? [];
  if (repositoryId === undefined || commit === undefined || kind === undefined) return null;
  return { repositoryId: Number(repositoryId), commit, kind: kind as AggregateKind };
}

type Standing = 'failed' | 'waiting' | 'under way' | 'ended early' | 'done' | 'not concerned';

/** As they are counted in the title and ordered in the table: first what somebody has to look at. */
const standings: readonly Standing[] = [
  'failed',
  'waiting',
  'under way',
  'ended early',
  'done',
  'not concerned',
];

function standingOf({ run }: AggregateRow): Standing {
  if (!('state' in run)) return run.isStopped ? 'failed' : 'not concerned';
  switch (run.state) {
    case 'FAILED':
      return 'failed';
    case 'UNCONFIRMED':
    case 'PENDING_REVIEW':
      return 'waiting';
    case 'FINISHED':
      return 'done';
    default:
      return isTerminal(run.state) ? 'ended early' : 'under way';
  }
}

export interface AggregateSettings {
  readonly publicUrl: string;
  readonly isSandboxed: boolean;
  readonly nowMs: number;
}

/**
 * It is under way while a run is; then it failed if one failed, waits for a person if one does, was cancelled if one
 * ended early, and is a success if one is done. Without a run it is neutral. Pure.
 */
export function aggregateCheckOf(
  id: string,
  wish: AggregateWish,
  rows: readonly AggregateRow[],
  settings: AggregateSettings,
): CheckRunBody {
  const by = Map.groupBy(rows, standingOf);
  const counts = standings.flatMap((standing) => {
    const count = by.get(standing)?.length ?? 0;
    return count === 0 ? [] : [`${count} ${standing}`];
  });
  return {
    name: `slipway/${wish.kind}`,
    head_sha: wish.commit,
    external_id: id,
    details_url: settings.publicUrl,
    ...phaseOf(by, settings.nowMs),
    started_at: new Date(wish.sinceMs).toISOString(),
    output: {
      title: counts.join(', ') || 'No stack is concerned',
      summary: summaryOf(
        standings.flatMap((standing) => by.get(standing) ?? []),
        settings,
      ),
    },
    actions: [],
  };
}

function phaseOf(
  by: ReadonlyMap<Standing, readonly AggregateRow[]>,
  nowMs: number,
): Pick<CheckRunBody, 'status' | 'conclusion' | 'completed_at'> {
  if (by.has('under way')) {
    const isStarted = [...by.values()]
      .flat()
      .some(({ run }) => 'state' in run && !waitsForTurn.has(run.state));
    return { status: isStarted ? 'in_progress' : 'queued' };
  }
  const [, conclusion] = conclusions.find(([standing]) => by.has(standing)) ?? [];
  return {
    status: 'completed',
    conclusion: conclusion ?? 'neutral',
    completed_at: new Date(nowMs).toISOString(),
  };
}

const waitsForTurn: ReadonlySet<Run['state']> = new Set(['QUEUED', 'READY']);

const conclusions: readonly (readonly [Standing, NonNullable<CheckRunBody['conclusion']>])[] = [
  ['failed', 'failure'],
  ['waiting', 'action_required'],
  ['ended early', 'cancelled'],
  ['done', 'success'],
];

/** Rows are short and stacks may be many: GitHub takes 65,535 characters for all of it. */
const maxTableLength = 60_000;

function summaryOf(rows: readonly AggregateRow[], { publicUrl, isSandboxed }: AggregateSettings): string {
  const head = '| Stack | State | Changes | |\n|---|---|---|---|';
  const lines = [head];
  let length = head.length;
  for (const row of rows) {
    const line = lineOf(row, publicUrl);
    length += line.length + 1;
    if (length > maxTableLength) break;
    lines.push(line);
  }
  const rest = rows.length - (lines.length - 1);
  const parts = [
    rows.length > 0 && lines.join('\n'),
    rest > 0 && `And ${rest} more.`,
    !isSandboxed && '**This server runs the tools without a sandbox.**',
    rows.length === 0 && 'No stack of the repository is concerned.',
  ];
  return parts.filter((part) => typeof part === 'string').join('\n\n');
}

/** Ids are slugs, and reasons markdown for a line: but for what ends a cell, nothing here has to be escaped. */
function lineOf({ stackId, run }: AggregateRow, publicUrl: string): string {
  if (!('state' in run)) {
    const state = run.isStopped ? 'Stopped by push policies' : 'Not concerned';
    return `| ${stackId} | ${state} | ${run.reason.replaceAll('|', '\\|')} | |`;
  }
  const changes = run.delta ? deltaSigns(run.delta) : '';
  return `| ${stackId} | ${wordingOf(run).headline} | ${changes} | [run](${publicUrl}/runs/${run.id}) |`;
}
