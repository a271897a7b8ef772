import { html } from 'hono/html';
import type { z } from 'zod';
import { type Bucket, buckets } from '../../../../runs/stack-summary.ts';
import type { stackCountsSchema } from '../../../api/stack-counts.ts';
import type { Markup } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { queryOf } from '../../query.ts';

export type StackCounts = z.output<typeof stackCountsSchema>;

/** What the address of the page says. "" for what it does not say. */
export interface StackFilterFields {
  readonly state: string;
  readonly q: string;
  readonly label: string;
  readonly repository: string;
  readonly sort: string;
}

export function filterFields({ query }: Pick<View, 'query'>): StackFilterFields {
  const field = (name: string) => query(name)?.trim() ?? '';
  return {
    ...{ state: field('state'), q: field('q'), label: field('label') },
    ...{ repository: field('repository'), sort: field('sort') },
  };
}

export const isFiltered = ({ state, q, label, repository }: StackFilterFields): boolean =>
  [state, q, label, repository].some((value) => value !== '');

export const bucketWords: Readonly<Record<Bucket, string>> = {
  attention: 'Needs attention',
  failed: 'Failed',
  'in-progress': 'In progress',
  'on-hold': 'On hold',
  stopped: 'Stopped',
  finished: 'Finished',
  'never-ran': 'Never ran',
};

/** More names than that are typed rather than chosen. */
const maxSuggested = 200;

export function bucketTabs(fields: StackFilterFields, counts: StackCounts): Markup {
  const tab = (state: Bucket | '', words: string, count: number) =>
    html`<a href="/${queryOf({ ...fields, state })}"${fields.state === state ? html` aria-current="page"` : ''}>${words} <span class="count">${count}${counts.incomplete ? '+' : ''}</span></a>`;
  return html`<nav class="tabs" aria-label="States">
${tab('', 'All', counts.total)}
${buckets.map((bucket) => tab(bucket, bucketWords[bucket], counts.buckets[bucket]))}
</nav>`;
}

export function filterForm(fields: StackFilterFields, { labels, repositories }: StackCounts): Markup {
  const names = {
    labels: labels.map(({ label }) => label),
    repositories: repositories.map(({ repository }) => repository),
  };
  return html`<form class="filter" method="get" action="/" role="search" aria-label="Stacks">
${fields.state === '' ? '' : html`<input type="hidden" name="state" value="${fields.state}">`}
${fields.sort === '' ? '' : html`<input type="hidden" name="sort" value="${fields.sort}">`}
<div><label for="q">Search</label><input id="q" name="q" type="search" maxlength="200" value="${fields.q}"></div>
<div><label for="label">Label</label><input id="label" name="label" list="labels" maxlength="100" value="${fields.label}">${suggestions('labels', names.labels)}</div>
<div><label for="repository">Repository</label><input id="repository" name="repository" list="repositories" maxlength="200" value="${fields.repository}">${suggestions('repositories', names.repositories)}</div>
<button>Filter</button>
${isFiltered(fields) ? html`<a href="/${queryOf({ sort: fields.sort })}">Clear the filter</a>` : ''}
</form>`;
}

const suggestions = (id: string, names: readonly string[]): Markup =>
  html`<datalist id="${id}">${names.slice(0, maxSuggested).map((name) => html`<option value="${name}"></option>`)}</datalist>`;
