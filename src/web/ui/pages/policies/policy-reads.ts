import { z } from 'zod';
import { decisionSchema, policySchema, versionSchema } from '../../../api/policy-object.ts';
import type { Tagged } from '../../in-process-api.ts';
import type { View } from '../../page-routes.ts';

export type Policy = z.output<typeof policySchema>;

const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable() });

export const policyPageSchema = pageOf(policySchema);
export const decisionPageSchema = pageOf(decisionSchema);
export const versionListSchema = pageOf(versionSchema);

/** Of the page of a policy; below /api/v1, of the policy itself. */
export const policyPath = (id: string): string => `/policies/${encodeURIComponent(id)}`;
export const apiPathOf = ({ param }: Pick<View, 'param'>): string => `/api/v1${policyPath(param('policy'))}`;

/** Throws `ApiRefusal`. */
export const readPolicy = (view: View): Promise<Tagged<Policy>> =>
  view.api.tagged(apiPathOf(view), policySchema);
