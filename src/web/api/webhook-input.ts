import { z } from '@hono/zod-openapi';
import {
  token as headerName,
  maxHeaders,
  maxNameLength,
  maxValueBytes,
  plainValue,
} from '../../webhooks/custom-headers.ts';
import { maxOverlapHours, maxSecretBytes } from '../../webhooks/secrets.ts';
import { filterInput } from './webhook-filter.ts';

/** What can be said of a webhook when it is made, and when it is changed. */
const fields = {
  endpoint: z.string().min(1).max(2048),
  secret: z
    .string()
    .nullable()
    .openapi({
      description: `Null and "" are the same: none. At most ${maxSecretBytes} bytes of UTF-8.`,
      maxLength: maxSecretBytes,
    }),
  enabled: z.boolean(),
  filter: filterInput,
};

const headersOf = <T extends z.ZodType>(value: T, description: string) =>
  z.record(z.string(), value).meta({
    description: `${description} Names of the connection, the body and the signatures are reserved.`,
    propertyNames: { pattern: headerName.source, maxLength: maxNameLength },
  });

const headerValue = z
  .string()
  .openapi({ pattern: plainValue.source, maxLength: maxValueBytes, example: 'Bearer 5f1d' });

const overlapHours = z.number().int().min(0).max(maxOverlapHours);

export const newWebhookInput = z
  .strictObject({
    ...z.object(fields).partial().shape,
    endpoint: fields.endpoint,
    generateSecret: z.boolean().optional().openapi({ description: 'A random one, told in the answer.' }),
    headers: headersOf(headerValue, `Added to each request; at most ${maxHeaders}.`)
      .meta({ maxProperties: maxHeaders })
      .optional(),
  })
  .refine(({ secret, generateSecret }) => !(secret && generateSecret), {
    path: ['generateSecret'],
    error: 'a secret is given already',
  })
  .openapi('NewWebhook', {
    example: {
      endpoint: 'https://receiver.example/slipway',
      generateSecret: true,
      filter: { states: ['FINISHED', 'FAILED'], runTypes: ['TRACKED'] },
      headers: { authorization: 'Bearer 5f1d' },
    },
    not: {
      properties: { secret: { type: 'string', minLength: 1 }, generateSecret: { const: true } },
      required: ['secret', 'generateSecret'],
    },
  });

export const webhookPatch = z
  .strictObject({
    ...fields,
    headers: headersOf(headerValue.nullable(), 'Added to those that are there; null removes one.'),
    overlapHours: overlapHours.openapi({
      description: 'How long the secret before this one is still used; 0 unless given.',
    }),
  })
  .partial()
  .refine(({ secret, overlapHours: hours }) => hours === undefined || secret !== undefined, {
    path: ['overlapHours'],
    error: 'needs a secret that replaces the old one',
  })
  .meta({ dependentRequired: { overlapHours: ['secret'] } })
  .openapi('WebhookPatch', { example: { enabled: true, filter: null } });

export const regenerateInput = z
  .strictObject({
    secret: z
      .string()
      .min(1)
      .optional()
      .openapi({ description: 'Random when left out.', maxLength: maxSecretBytes }),
    overlapHours: overlapHours
      .default(24)
      .openapi({ description: 'How long the old secret is still used; with 0 it ends at once.' }),
  })
  .openapi({ example: { overlapHours: 24 } });
