import { z } from 'zod';
import { isDefaultProvider } from './steps.ts';

/**
 * What the saved plan tells beyond the event log (sdk/go/common/apitype/plan.go): in the log a secret is "[secret]"
 * before and after, here another secret value is an entry of its own.
 */
const diffSchema = z.looseObject({
  adds: z.looseObject({}).nullish(),
  updates: z.looseObject({}).nullish(),
  deletes: z.array(z.unknown()).nullish(),
});
const planSchema = z.looseObject({
  resourcePlans: z
    .record(
      z.string(),
      z.looseObject({
        goal: z.looseObject({ inputDiff: diffSchema.nullish(), outputDiff: diffSchema.nullish() }).nullish(),
      }),
    )
    .nullish(),
});

export type SavedPlan = z.infer<typeof planSchema>;

/** Null when it is no plan. */
export function parseSavedPlan(text: string): SavedPlan | null {
  try {
    return planSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Whether any resource gets other inputs, or any component or the stack other outputs. */
export function hasPropertyChanges({ resourcePlans }: SavedPlan): boolean {
  return Object.entries(resourcePlans ?? {}).some(
    ([urn, { goal }]) => !isDefaultProvider(urn) && (isDiff(goal?.inputDiff) || isDiff(goal?.outputDiff)),
  );
}

function isDiff(diff: z.infer<typeof diffSchema> | null | undefined): boolean {
  const { adds, updates, deletes } = diff ?? {};
  return [adds, updates, deletes].some((part) => part && Object.keys(part).length > 0);
}
