import { html } from 'hono/html';
import { UserError } from '../../../../user-error.ts';
import type { Markup } from '../../layout.ts';
import type { View } from '../../page-routes.ts';

const names = ['account', 'stack', 'actor', 'since', 'until'] as const;
export type AuditFilter = Readonly<Record<(typeof names)[number], string>>;

export const filterOf = ({ query }: Pick<View, 'query'>): AuditFilter =>
  Object.fromEntries(names.map((name) => [name, query(name)?.trim() ?? ''])) as AuditFilter;

export const isFiltered = (filter: AuditFilter): boolean => names.some((name) => filter[name] !== '');

/** As the API is asked. A stack can be written "account/id". Throws `invalid-input`. */
export function questionOf({ account, stack, actor, since, until }: AuditFilter): Record<string, string> {
  const [id = '', ofStack = ''] = stack.split('/').toReversed();
  const [from, to] = [dayIn(since, 'since'), dayIn(until, 'until')];
  return {
    ...{ account: account || ofStack, stack: id, actor },
    ...(from !== null && { since: String(from) }),
    // The whole of that day.
    ...(to !== null && { until: String(to + 86_400) }),
  };
}

/** Unix seconds of its beginning in UTC; null without one. */
function dayIn(text: string, path: string): number | null {
  if (text === '') return null;
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(ms) && ms >= 0) return ms / 1000;
  const message = `${path}: a day such as 2026-11-22`;
  throw new UserError('invalid-input', message, { issues: [{ path, message }] });
}

export function filterForm(filter: AuditFilter): Markup {
  const text = (name: keyof AuditFilter, label: string, placeholder: string) =>
    html`<div><label for="${name}">${label}</label><input id="${name}" name="${name}" maxlength="200" placeholder="${placeholder}" value="${filter[name]}"></div>`;
  const day = (name: 'since' | 'until', label: string) =>
    html`<div><label for="${name}">${label}</label><input id="${name}" name="${name}" type="date" value="${filter[name]}"></div>`;
  return html`<form class="filter" method="get" action="/audit" role="search" aria-label="Audit log">
${text('actor', 'Who', 'ada')}
${text('account', 'Account', 'acme')}
${text('stack', 'Stack', 'acme/network-prod')}
${day('since', 'From (UTC)')}
${day('until', 'To (UTC)')}
<button>Filter</button>
${isFiltered(filter) ? html`<a href="/audit">Clear the filter</a>` : ''}
</form>`;
}
