import { z } from '@hono/zod-openapi';
import { mayHoldData } from '../../runs/plan/holds-data.ts';
import { changeOps } from '../../runs/plan/plan-changes.ts';
import type { PlacedChange } from '../../runs/plan/plan-tree.ts';
import { propertyViews } from '../../runs/plan/property-view.ts';
import type { ResourceMark } from '../../runs/plan/resource-mark.ts';
import { resourceChangeExample } from './examples.ts';

export const changeOp = z.enum(changeOps);

const propertySchema = z
  .object({
    path: z.string().openapi({ example: 'tags.env' }),
    old: z.unknown().optional().openapi({ description: 'Any JSON; left out: it was not there.' }),
    new: z.unknown().optional().openapi({ description: 'Any JSON; left out: it will not be there.' }),
    unknown: z.boolean().optional().openapi({ description: 'True: the new value is known after the apply.' }),
    lines: z
      .array(z.object({ kind: z.enum(['same', 'removed', 'added', 'gap']), text: z.string() }))
      .optional()
      .openapi({ description: 'Instead of `old` and `new`, for long texts: how their lines differ.' }),
    cut: z.boolean().optional().openapi({ description: 'True: more than is shown here.' }),
  })
  .openapi('PropertyChange');

/** What a plan does to one resource. */
export const resourceChangeSchema = z
  .object({
    op: changeOp.openapi({
      description:
        '`move`: the program calls it by another name, and nothing else changes. `outputs`: what a component or the stack itself gives out changes, and nothing else of it.',
    }),
    urn: z.string(),
    type: z.string(),
    name: z.string(),
    movedFrom: z.string().nullable().openapi({ description: 'Its URN until now; null when that stays.' }),
    parents: z.array(z.string()).openapi({ description: 'URNs of what it belongs to, the outermost first.' }),
    protected: z.boolean().openapi({ description: 'The tool refuses to delete it.' }),
    mayHoldData: z.boolean().openapi({ description: 'A guess from the type.' }),
    replacedFor: z.array(z.string()).openapi({ description: 'Paths of what forces the replacement.' }),
    properties: z.array(propertySchema),
    moreProperties: z.boolean(),
  })
  .openapi('ResourceChange', { example: resourceChangeExample });

export function resourceChangeObject(
  change: PlacedChange,
  mark: ResourceMark | undefined,
): z.infer<typeof resourceChangeSchema> {
  const { op, urn, type, name, movedFrom, parents } = change;
  const { items, isCut } = propertyViews(change.old, change.new);
  return {
    ...{ op, urn, type, name, movedFrom, parents: [...parents] },
    protected: mark?.isProtected ?? false,
    mayHoldData: mayHoldData(type),
    replacedFor: op === 'replace' ? [...(mark?.replacedFor ?? [])] : [],
    properties: items.map(({ isUnknown, isCut: cut, lines, ...view }) => ({
      ...view,
      ...(lines ? { lines: lines.map((line) => ({ ...line })) } : {}),
      ...(isUnknown ? { unknown: true } : {}),
      ...(cut ? { cut: true } : {}),
    })),
    moreProperties: isCut,
  };
}
