import { z } from '@hono/zod-openapi';
import { newPolicyExample, policyExample } from './policy-examples.ts';
import { kindSchema, regoVersionSchema } from './policy-object.ts';

const text = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .refine((value) => value.isWellFormed() && !value.includes('\0'), 'without NUL and halves of characters');

const name = text(100)
  .trim()
  .min(1)
  .openapi({ description: 'Unique in the account.', pattern: String.raw`^[^\x00]*[^\s\x00][^\x00]*$` });
const description = text(1000);
const labels = z
  .array(text(100).trim().min(1).openapi({ pattern: String.raw`^[^\x00]*[^\s\x00][^\x00]*$` }))
  .max(50)
  .openapi({
    description:
      '`autoattach:<label>`: judges the stacks of its account with that label; `autoattach:*`: all.',
    example: ['autoattach:prod'],
  });
/** How long it may be is judged in bytes, with the rest of the source. */
const body = z.string().openapi({ description: 'Rego of package `slipway`, 64 KiB at most.' });

export const sourceInput = z.strictObject({ body, regoVersion: regoVersionSchema.default(1) });

export const newPolicyInput = sourceInput
  .extend({
    name,
    kind: kindSchema,
    account: z
      .string()
      .min(1)
      .max(200)
      .nullable()
      .optional()
      .openapi({ description: 'Left out: that of the token, or the only one. A LOGIN policy has none.' }),
    description: description.default(''),
    labels: labels.default([]),
  })
  .openapi('NewPolicy', { example: newPolicyExample });

/** What is left out stays: a policy must not lose its labels, and so its stacks, by the way. */
export const policyChangeInput = z
  .strictObject({
    name: name.optional(),
    kind: kindSchema.optional().openapi({ description: 'As it is: it cannot be changed.' }),
    description: description.optional(),
    labels: labels.optional(),
    body: body.optional(),
    regoVersion: regoVersionSchema.optional(),
  })
  .openapi('PolicyChange', { example: { name: 'buckets stay', body: policyExample.body } });
