import { createRoute, z } from '@hono/zod-openapi';
import type { VendorForm } from '../../stacks/vendor-settings.ts';
import { type Api, newApi } from '../api.ts';
import { pageOf, wholeListQuery } from '../page.ts';
import { json, needs, problems } from './route-parts.ts';

export const vendorSchema = z
  .object({
    name: z.string().openapi({ description: 'The key in `vendor` of a stack.', example: 'pulumi' }),
    label: z.string(),
    fields: z.array(
      z.object({ name: z.string(), label: z.string(), help: z.string(), example: z.string() }).openapi({
        description: 'A setting below that key, as text: what it is for, and how one may look.',
      }),
    ),
  })
  .openapi('Vendor', {
    example: {
      name: 'pulumi',
      label: 'Pulumi',
      fields: [
        {
          name: 'loginUrl',
          label: 'Login URL',
          help: 'Where Pulumi keeps the state.',
          example: 's3://acme-state',
        },
      ],
    },
  });

const listRoute = createRoute({
  method: 'get',
  path: '/api/v1/vendors',
  operationId: 'listVendors',
  tags: ['stacks'],
  summary: 'The tools that a stack can be run with, and what each wants to know of it',
  ...needs('any'),
  request: { query: wholeListQuery },
  responses: { 200: json(pageOf(vendorSchema), 'All vendors.'), ...problems },
});

export function vendorRoutes({ vendors }: { readonly vendors: readonly VendorForm[] }): Api {
  const api = newApi();
  const items = vendors.map(({ name, label, fields }) => ({
    name,
    label,
    fields: fields.map((field) => ({ ...field })),
  }));
  api.openapi(listRoute, (c) => c.json({ items, nextCursor: null }, 200));
  return api;
}
