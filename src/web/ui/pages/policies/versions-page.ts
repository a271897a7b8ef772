import { html } from 'hono/html';
import type { z } from 'zod';
import { lineDiff } from '../../../../runs/plan/line-diff.ts';
import { lineChanges } from '../../components/line-changes.ts';
import { sourceListing } from '../../components/source-listing.ts';
import { timeAgo } from '../../components/time.ts';
import type { Markup, Page } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import { policyFrame } from './policy-frame.ts';
import { apiPathOf, policyPath, readPolicy, versionListSchema } from './policy-reads.ts';

type Version = z.output<typeof versionListSchema>['items'][number];

const longestLine = 2000;

/** Every source that the policy had, and what is different between two of them. */
export async function versionsPage(view: View): Promise<Page> {
  const [{ value: policy }, { items }] = await Promise.all([
    readPolicy(view),
    view.api.get(`${apiPathOf(view)}/versions`, versionListSchema),
  ]);
  const [newest, second] = items;
  const [from, to] = [chosen(view, 'from', items) ?? second, chosen(view, 'to', items) ?? newest];
  const path = `${policyPath(policy.id)}/versions`;
  const body = html`<div class="scroll" tabindex="0"><table>
<thead><tr><th scope="col">Version</th><th scope="col">Made</th><th scope="col">By</th><th scope="col">Language</th><th scope="col">Rules</th></tr></thead>
<tbody>${items.map(
    (
      each,
    ) => html`<tr><td>${each.version}</td><td>${timeAgo(each.createdAt, view.nowMs)}</td><td>${each.createdBy}</td>
<td>Rego v${each.regoVersion}</td><td class="mono small">${each.rules.join(', ')}</td></tr>`,
  )}</tbody></table></div>
${to === undefined ? '' : from === undefined ? onlyOne(to) : comparison(path, items, from, to)}`;
  return policyFrame(view, policy, 'Versions', body);
}

const chosen = ({ query }: View, name: string, versions: readonly Version[]): Version | undefined =>
  versions.find(({ version }) => String(version) === query(name));

const onlyOne = ({ body, version }: Version): Markup =>
  html`<h2>Version ${version}</h2><p class="soft">There is no other one to compare it with.</p>${sourceListing(body)}`;

function comparison(path: string, versions: readonly Version[], from: Version, to: Version): Markup {
  const choice = (name: string, label: string, selected: Version) =>
    html`<div><label for="${name}">${label}</label><select id="${name}" name="${name}">${versions.map(
      ({ version }) =>
        html`<option${version === selected.version ? html` selected` : ''}>${version}</option>`,
    )}</select></div>`;
  const isSame = from.body === to.body;
  return html`<h2 id="changes">From version ${from.version} to ${to.version}</h2>
<form class="compare" method="get" action="${path}#changes">${choice('from', 'From', from)}${choice('to', 'To', to)}<button>Compare</button></form>
${from.regoVersion === to.regoVersion ? '' : html`<p>The language is Rego v${to.regoVersion} instead of v${from.regoVersion}.</p>`}
${isSame ? html`<p class="soft">The text is the same.</p>` : lineChanges(lineDiff(from.body, to.body), longestLine)}`;
}
