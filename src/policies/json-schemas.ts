import { z } from 'zod';
import { approvalInput } from './input/schemas/approval.ts';
import { loginInput } from './input/schemas/login.ts';
import { notificationInput } from './input/schemas/notification.ts';
import { planInput } from './input/schemas/plan.ts';
import { pushInput } from './input/schemas/push.ts';
import { triggerInput } from './input/schemas/trigger.ts';
import { kinds, type RuleType } from './kinds.ts';
import { notificationObjects } from './notification-objects.ts';
import type { PolicyKind } from './policy.ts';

/** What policies of each kind see. */
export const inputSchemas: Readonly<Record<PolicyKind, z.ZodType>> = {
  PLAN: planInput,
  PUSH: pushInput,
  APPROVAL: approvalInput,
  TRIGGER: triggerInput,
  NOTIFICATION: notificationInput,
  LOGIN: loginInput,
};

const message = z.union([z.string(), z.looseObject({ msg: z.string() })]);

const values: Readonly<Record<RuleType, z.ZodType>> = {
  boolean: z.boolean(),
  messages: z.array(message).meta({ uniqueItems: true }),
  strings: z.array(z.string()).meta({ uniqueItems: true }),
  string: z.string(),
  objects: z.array(z.looseObject({})),
  sets: z.record(z.string(), z.array(z.string()).meta({ uniqueItems: true })),
};

const objects: ReadonlyMap<string, z.ZodType> = new Map(Object.entries(notificationObjects));

/** JSON Schema 2020-12 of the input, as published in docs/policies. */
export const inputSchema = (kind: PolicyKind): object =>
  published(
    inputSchemas[kind],
    `Input of ${kind} policies`,
    'What `input` is in a Slipway policy of this kind.',
  );

/** JSON Schema 2020-12 of what is read of the package, as published in docs/policies. Sets are arrays. */
export function resultSchema(kind: PolicyKind): object {
  const rules = Object.entries(kinds[kind].rules).map(([rule, type]) => {
    const object = objects.get(rule);
    const value = object ? z.array(object).meta({ uniqueItems: true }) : values[type];
    return [rule, value.optional()] as const;
  });
  const about =
    'The rules of package `slipway` that are read; sets are arrays. Other rules are the policy’s own.';
  return published(z.looseObject(Object.fromEntries(rules)), `Result of ${kind} policies`, about);
}

function published(schema: z.ZodType, title: string, description: string): object {
  const json = z.toJSONSchema(schema.meta({ title, description }), {
    target: 'draft-2020-12',
    // Of inputs a later version may have more: who validates by this must not refuse that.
    io: 'input',
    unrepresentable: 'any',
    override({ jsonSchema }) {
      // Zod's limits of a JavaScript number say nothing about the field.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  return json;
}
