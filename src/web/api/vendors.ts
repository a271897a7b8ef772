import { createRoute, z } from '@hono/zod-openapi';
import type { VendorField, VendorForm } from '../../stacks/vendor-settings.ts';
import { type Api, newApi } from '../api.ts';
import { pageOf, wholeListQuery } from '../page.ts';
import { json, needs, problems } from './route-parts.ts';

export const vendorSchema = z
  .object({
    name: z.string().openapi({ description: 'The key in `vendor` of a stack.', example: 'pulumi' }),
    label: z.string(),
    installed: z.boolean().openapi({
      description:
        'False: this server has no such tool, or one that it cannot use, and runs of such stacks fail.',
    }),
    fields: z.array(
      z
        .object({
          name: z.string(),
          label: z.string(),
          help: z.string(),
          example: z.string(),
          optional: z.boolean().openapi({ description: 'It may be left out.' }),
        })
        .openapi({
          description: 'A setting below that key, as text: what it is for, and how one may look.',
        }),
    ),
  })
  .openapi('Vendor', {
    example: {
      name: 'terraform',
      label: 'Terraform',
      installed: true,
      fields: [
        {
          name: 'workspace',
          label: 'Workspace',
          help: 'Selected after init, and made when there is none of that name.',
          example: 'prod',
          optional: true,
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

export interface OfferedVendor extends VendorForm {
  /** Null when this machine does not have it. */
  readonly tool: object | null;
}

export function vendorRoutes({ vendors }: { readonly vendors: readonly OfferedVendor[] }): Api {
  const api = newApi();
  api.openapi(listRoute, (c) => c.json({ items: vendors.map(vendorObject), nextCursor: null }, 200));
  return api;
}

function vendorObject({ name, label, tool, fields }: OfferedVendor): z.infer<typeof vendorSchema> {
  return { name, label, installed: tool !== null, fields: fields.map(fieldObject) };
}

function fieldObject({ name, label, help, example, isOptional }: VendorField) {
  return { name, label, help, example, optional: isOptional ?? false };
}
