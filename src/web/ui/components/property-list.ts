import { html } from 'hono/html';
import type { z } from 'zod';
import { secretText } from '../../../runs/plan/plan-value.ts';
import { visible } from '../../../runs/plan/visible-text.ts';
import type { resourceChangeSchema } from '../../api/plan-object.ts';
import type { Markup } from '../layout.ts';
import { lineChanges } from './line-changes.ts';

type Change = z.output<typeof resourceChangeSchema>;
type Property = Change['properties'][number];

const longestPath = 300;
const longestValue = 1000;

/** How the properties of a resource change, place by place. */
export function propertyList(change: Pick<Change, 'properties' | 'moreProperties' | 'replacedFor'>): Markup {
  const { properties, moreProperties, replacedFor } = change;
  return html`<ul class="properties">${properties.map((each) => property(each, forces(each.path, replacedFor)))}</ul>
${moreProperties ? html`<p class="soft small">… and more, which are not shown here.</p>` : ''}`;
}

/** The tool names a property, or a place in it. */
function forces(path: string, replacedFor: readonly string[]): boolean {
  return replacedFor.some(
    (each) => path === each || path.startsWith(`${each}.`) || path.startsWith(`${each}[`),
  );
}

function property(each: Property, isForcing: boolean): Markup {
  const { path, lines, cut } = each;
  return html`<li><span class="path">${visible(path, longestPath)}</span>${isForcing ? html` <span class="tag forces">forces replacement</span>` : ''}
${lines ? lineChanges(lines, longestValue) : values(each)}${cut ? html`<span class="soft small">… cut</span>` : ''}</li>`;
}

function values(each: Property): Markup {
  const old = each.old === undefined ? '' : html`<del>${value(each.old)}</del>`;
  const now = each.unknown
    ? html`<ins class="later">known after apply</ins>`
    : each.new === undefined
      ? ''
      : html`<ins>${value(each.new)}</ins>`;
  return html`${old}${old === '' || now === '' ? '' : html` <span aria-hidden="true">→</span> `}${now}`;
}

function value(given: unknown): Markup {
  if (given === secretText) return html`<span class="secret">${secretText}</span>`;
  return html`${visible(JSON.stringify(given), longestValue)}`;
}
