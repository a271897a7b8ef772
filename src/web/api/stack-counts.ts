import { z } from '@hono/zod-openapi';
import type { CountedStack } from '../../runs/stack-list.ts';
import { type Bucket, bucketOf, buckets } from '../../runs/stack-summary.ts';
import { stackCountsExample } from './examples.ts';
import type { StackRoles } from './stack-roles.ts';

const bucketCounts = z.object(
  Object.fromEntries(buckets.map((bucket) => [bucket, z.number().int()])) as Record<Bucket, z.ZodNumber>,
);

export const stackCountsSchema = z
  .object({
    total: z.number().int().openapi({ description: 'Of what the filter lets pass.' }),
    buckets: bucketCounts.openapi({ description: 'The same, by bucket.' }),
    labels: z
      .array(z.object({ label: z.string(), count: z.number().int() }))
      .openapi({ description: 'Of all stacks that the token may read, by name.' }),
    repositories: z
      .array(z.object({ repository: z.string(), count: z.number().int() }))
      .openapi({ description: 'The same.' }),
    incomplete: z.literal(true).optional().openapi({
      description: 'There are more repositories than GitHub is asked about for one answer; absent otherwise.',
    }),
  })
  .openapi('StackCounts', { example: stackCountsExample });

/** Adds up what the caller may read. */
export async function countStacks(
  counted: readonly CountedStack[],
  roles: StackRoles,
): Promise<z.infer<typeof stackCountsSchema>> {
  const byBucket = Object.fromEntries(buckets.map((bucket) => [bucket, 0])) as Record<Bucket, number>;
  const labels = new Map<string, number>();
  const repositories = new Map<string, number>();
  let isIncomplete = false;
  for (const [index, each] of counted.entries()) {
    if (roles.isSpent() && !roles.isKnown(each)) {
      isIncomplete = true;
      continue;
    }
    if ((await roles.roleOn(each, counted.slice(index + 1))) === null) continue;
    if (each.state !== null) byBucket[bucketOf(each.state)] += 1;
    for (const label of each.labels) addOne(labels, label);
    addOne(repositories, each.repository.fullName);
  }
  return {
    total: Object.values(byBucket).reduce((sum, count) => sum + count, 0),
    buckets: byBucket,
    labels: sorted(labels).map(([label, count]) => ({ label, count })),
    repositories: sorted(repositories).map(([repository, count]) => ({ repository, count })),
    ...(isIncomplete ? { incomplete: true as const } : {}),
  };
}

function addOne(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

const sorted = (counts: ReadonlyMap<string, number>): [string, number][] =>
  [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
