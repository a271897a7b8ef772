import { z } from '@hono/zod-openapi';
import { maxOverlapHours } from '../../webhooks/secrets.ts';
import { filterInput } from './webhook-filter.ts';

/** What can be said of a webhook when it is made, and when it is changed. */
const fields = {
  endpoint: z.string().min(1).max(2048),
  secret: z
    .string()
    .nullable()
    .openapi({ description: 'Null and "" are the same: none. At most 1024 bytes of UTF-8.' }),
  enabled: z.boolean(),
  filter: filterInput,
};

const headersOf = <T extends z.ZodType>(value: T, description: string) =>
  z.record(z.string(), value).openapi({ description });

const overlapHours = z.number().int().min(0).max(maxOverlapHours);

export const newWebhookInput = z
  .strictObject({
    ...z.object(fields).partial().shape,
    endpoint: fields.endpoint,
    generateSecret: z.boolean().optional().openapi({ description: 'A random one, told in the answer.' }),
    headers: headersOf(z.string(), 'Added to each request; at most 20, of 4096 bytes each.').optional(),
  })
  .refine(({ secret, generateSecret }) => !(secret && generateSecret), {
    path: ['generateSecret'],
    error: 'a secret is given already',
  })
  .openapi('NewWebhook');

export const webhookPatch = z
  .strictObject({
    ...fields,
    headers: headersOf(z.string().nullable(), 'Added to those that are there; null removes one.'),
    overlapHours: overlapHours.openapi({
      description: 'How long the secret before this one is still used; 0 unless given.',
    }),
  })
  .partial()
  .refine(({ secret, overlapHours: hours }) => hours === undefined || secret !== undefined, {
    path: ['overlapHours'],
    error: 'needs a secret that replaces the old one',
  })
  .openapi('WebhookPatch');

export const regenerateInput = z.strictObject({
  secret: z.string().min(1).optional().openapi({ description: 'Random when left out.' }),
  overlapHours: overlapHours
    .default(24)
    .openapi({ description: 'How long the old secret is still used; with 0 it ends at once.' }),
});
