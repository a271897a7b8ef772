import { html } from 'hono/html';
import type { z } from 'zod';
import { type PlanRow, treeOf } from '../../../runs/plan/plan-tree.ts';
import { nameOf, typeIn } from '../../../runs/plan/resource-name.ts';
import { visible } from '../../../runs/plan/visible-text.ts';
import type { resourceChangeSchema } from '../../api/plan-object.ts';
import type { Markup } from '../layout.ts';
import { changeOp } from './change-op.ts';
import { propertyList } from './property-list.ts';

type Change = z.output<typeof resourceChangeSchema>;

export interface PlanTreeOptions {
  /** By URN: what is new about it to who looks. */
  readonly news: ReadonlyMap<string, 'new' | 'different'>;
  /** Where one resource is shown alone, with all of its properties. */
  readonly linkTo: (urn: string) => string;
}

const longestName = 200;
const deepest = 8;
/** Properties of so many characters are on the page; of what comes after them there is a link. */
const shownProperties = 50_000;

/** Changes as a tree; each can be opened. The weight of the page is bounded. */
export function planTree(changes: readonly Change[], options: PlanTreeOptions): Markup {
  let left = shownProperties;
  const rows = treeOf(changes).map((row, index) => {
    if (!row.change) return quietRow(row);
    const weight = weightOf(row.change);
    // The first is shown, however large it is: a link would lead to it alone.
    const isShown = index === 0 || weight <= left;
    if (isShown) left -= weight;
    return changeRow(row.change, row.depth, isShown, options);
  });
  return html`<ol class="tree">${rows}</ol>`;
}

/** Of each property with what is written around it. */
const weightOf = ({ properties }: Change): number =>
  properties.reduce((sum, each) => sum + 90 + JSON.stringify(each).length, 0);

const depthClass = (depth: number): string => `d${Math.min(depth, deepest)}`;

function quietRow({ urn, depth, parent }: PlanRow<Change>): Markup {
  return html`<li class="quiet ${depthClass(depth)}">${visible(nameBelow(parent, nameOf(urn)), longestName)}${typeMark(typeIn(urn))}</li>`;
}

/** An address begins with that of its module, which stands above it. */
function nameBelow(parent: string | undefined, name: string): string {
  return parent !== undefined && name.startsWith(`${parent}.`) ? name.slice(parent.length + 1) : name;
}

const typeMark = (type: string): Markup | string =>
  type === '' ? '' : html` <span class="type">${visible(type, longestName)}</span>`;

function changeRow(
  change: Change,
  depth: number,
  isShown: boolean,
  { news, linkTo }: PlanTreeOptions,
): Markup {
  const { op, urn, type } = change;
  const name = nameBelow(change.parents.at(-1), change.name);
  // An address says it itself.
  const shownType = name.includes(`${type}.`) ? '' : type;
  const head = html`${changeOp(op)} <b>${visible(name, longestName)}</b>${typeMark(shownType)}${tags(change, news.get(urn))}`;
  const classes = `change ${depthClass(depth)}`;
  if (!isShown) return html`<li class="${classes}"><a class="row" href="${linkTo(urn)}">${head}</a></li>`;
  return html`<li class="${classes}"><details><summary>${head}</summary>
<div class="body"><p class="small"><code class="urn">${visible(urn, 2000)}</code></p>
${whence(change)}${whyReplaced(change)}${change.properties.length > 0 ? propertyList(change) : html`<p class="soft">${noProperties[op]}</p>`}</div></details></li>`;
}

function tags(
  { op, protected: isProtected, mayHoldData }: Change,
  news: 'new' | 'different' | undefined,
): Markup {
  const isLost = op === 'delete' || op === 'replace';
  return html`${isLost && mayHoldData ? html` <span class="tag danger">may hold data</span>` : ''}${
    isProtected ? html` <span class="tag protected">protected</span>` : ''
  }${news ? html` <span class="tag news">${news}</span>` : ''}`;
}

function whence({ movedFrom }: Change): Markup | string {
  if (movedFrom === null) return '';
  return html`<p class="small">Until now it is <code class="urn">${visible(movedFrom, 2000)}</code>.</p>`;
}

function whyReplaced({ op, replacedFor }: Change): Markup | string {
  if (op !== 'replace') return '';
  if (replacedFor.length === 0) return html`<p class="small">It is replaced by a new one.</p>`;
  const paths = replacedFor.map(
    (path, index) => html`${index > 0 ? ', ' : ''}<code>${visible(path, longestName)}</code>`,
  );
  return html`<p class="small">It is replaced by a new one, because of ${paths}.</p>`;
}

const noProperties: Readonly<Record<Change['op'], string>> = {
  create: 'It has no inputs.',
  update: 'Its inputs stay as they are, or only values of secrets change.',
  replace: 'Its inputs stay as they are, or only values of secrets change.',
  delete: 'It has no inputs.',
  move: 'It stays as it is.',
  outputs: 'Only values of secrets change.',
};
