import { z } from '@hono/zod-openapi';
import type { VendorSettingsSchema } from '../../stacks/vendor-settings.ts';

export const vendorSettingsName = 'VendorSettings';

/** Settings of any vendor: which there are is known only when the server starts. */
export const vendorSettings = z.record(z.string(), z.unknown()).openapi(vendorSettingsName);

/** What the document says of them then: exactly one vendor, by its own schema. */
export function vendorSettingsComponent(vendors: readonly VendorSettingsSchema[]): object {
  return {
    description: 'The tool of the stack, and its settings.',
    oneOf: vendors.map(({ name, schema }) => {
      const { $schema: _, ...settings } = z.toJSONSchema(schema, { io: 'input' });
      return {
        type: 'object',
        properties: { [name]: settings },
        required: [name],
        additionalProperties: false,
      };
    }),
  };
}
