import { z } from 'zod';

/**
 * What Slipway reads of `show -json` (format 1.x of Terraform and OpenTofu, which only adds to it). Values and masks
 * stay unknown; that a mask is there at all is asked for, because without one everything would pass for public.
 */
const mask = z.union([z.boolean(), z.array(z.unknown()), z.looseObject({})]);
const anything = z.unknown().optional();

const changeSchema = z.looseObject({
  actions: z.array(z.string()).min(1),
  before: anything,
  after: anything,
  after_unknown: anything,
  before_sensitive: mask,
  after_sensitive: mask,
  importing: anything,
  replace_paths: z.array(z.array(z.union([z.string(), z.number()]))).nullish(),
});

const resourceChangeSchema = z.looseObject({
  address: z.string(),
  module_address: z.string().nullish(),
  previous_address: z.string().nullish(),
  mode: z.string(),
  type: z.string(),
  name: z.string(),
  provider_name: z.string(),
  deposed: z.string().nullish(),
  change: changeSchema,
});

export interface StateModule {
  readonly resources?: readonly { readonly mode: string }[] | null | undefined;
  readonly child_modules?: readonly StateModule[] | null | undefined;
}

const stateModuleSchema: z.ZodType<StateModule> = z.lazy(() =>
  z.looseObject({
    resources: z.array(z.looseObject({ mode: z.string() })).nullish(),
    child_modules: z.array(stateModuleSchema).nullish(),
  }),
);

const planSchema = z.looseObject({
  format_version: z.string().regex(/^1\.\d+$/, 'is none that Slipway knows'),
  errored: z.boolean().nullish(),
  /** Terraform since 1.7; not OpenTofu. */
  applyable: z.boolean().nullish(),
  planned_values: z.looseObject({ root_module: stateModuleSchema.nullish() }).nullish(),
  resource_changes: z.array(resourceChangeSchema).nullish(),
  resource_drift: z.array(resourceChangeSchema).nullish(),
  output_changes: z.record(z.string(), changeSchema).nullish(),
  configuration: anything,
});

export type JsonChange = z.infer<typeof resourceChangeSchema>;
export type PlanJson = z.infer<typeof planSchema>;

export type ParsedPlan = { readonly plan: PlanJson } | { readonly problem: string };

/** `problem` names the first place that is not as it should be; never a value. */
export function checkPlan(json: unknown): ParsedPlan {
  const result = planSchema.safeParse(json);
  if (result.success) return { plan: result.data };
  const issue = result.error.issues[0];
  return { problem: `${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'not valid'}` };
}
