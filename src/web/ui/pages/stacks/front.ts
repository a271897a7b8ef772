import { html } from 'hono/html';
import type { StackObject } from '../../../api/stack-object.ts';
import { deltaSigns } from '../../components/delta.ts';
import { timeAgo } from '../../components/time.ts';
import type { Markup } from '../../layout.ts';
import { stackPath } from '../../stack-path.ts';

type LastRun = NonNullable<StackObject['lastRun']>;

/** Some of many, and whether there are more. */
export interface Shown {
  readonly stacks: readonly StackObject[];
  readonly hasMore: boolean;
}

/** Runs that the person may confirm. Nothing when there are none. */
export function waitingSection({ stacks, hasMore }: Shown, nowMs: number): Markup | string {
  if (stacks.length === 0) return '';
  return html`<section class="front" aria-labelledby="waiting"><h2 id="waiting">Waiting for you (${stacks.length}${hasMore ? '+' : ''})</h2>
<ul>${stacks.map((stack) => item(stack, nowMs, { what: waitingWords, words: 'Review' }))}</ul>
${hasMore ? html`<p><a href="/?state=attention">All that need attention</a></p>` : ''}</section>`;
}

/** `count`: of all that failed. */
export function failedSection({ stacks, hasMore }: Shown, count: string, nowMs: number): Markup | string {
  if (stacks.length === 0) return '';
  return html`<section class="front" aria-labelledby="failed"><h2 id="failed">Failed (${count})</h2>
<ul>${stacks.map((stack) => item(stack, nowMs, { what: failedWords, words: 'See why' }))}</ul>
${hasMore ? html`<p><a href="/?state=failed">All that failed</a></p>` : ''}</section>`;
}

function item(
  { account, id, name, lastRun: run }: StackObject,
  nowMs: number,
  { what, words }: { readonly what: (run: LastRun) => Markup; readonly words: string },
): Markup | string {
  if (run === null) return '';
  return html`<li><a class="name" href="${stackPath(account, id)}">${name}</a>
<span class="what">${what(run)}, ${timeAgo(run.since, nowMs)}</span>
<span>${run.delta ? deltaSigns(run.delta) : ''}</span>
<a class="button" href="/runs/${run.id}">${words}<span class="hidden"> of ${name}</span></a></li>`;
}

const kinds: Readonly<Record<LastRun['type'], string>> = {
  ...{ TRACKED: 'plan', PROPOSED: 'preview', TASK: 'task', DESTROY: 'tear-down' },
};

const waitingWords = ({ type, commit }: LastRun): Markup =>
  html`${kinds[type]} of <span class="mono">${commit.hash.slice(0, 7)}</span> by ${commit.authorName}`;

/** Of the reason the first line: what to do about it stands on the page of the run. */
const failedWords = ({ type, note }: LastRun): Markup =>
  html`${note === undefined ? `${kinds[type]} failed` : note.split('\n', 1)[0]}`;
