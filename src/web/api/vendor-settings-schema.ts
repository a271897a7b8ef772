import { z } from '@hono/zod-openapi';
import type { VendorForm, VendorSettingsSchema } from '../../stacks/vendor-settings.ts';

export const vendorSettingsName = 'VendorSettings';

/** Settings of any vendor: which there are is known only when the server starts. */
export const vendorSettings = z.record(z.string(), z.unknown()).openapi(vendorSettingsName);

/** What the document says of them then: exactly one vendor, by its own schema. */
export function vendorSettingsComponent(vendors: readonly (VendorForm & VendorSettingsSchema)[]): object {
  return {
    description: 'The tool of the stack, and its settings.',
    oneOf: vendors.map((vendor) => ({
      title: vendor.label,
      type: 'object',
      properties: { [vendor.name]: settingsOf(vendor) },
      required: [vendor.name],
      additionalProperties: false,
    })),
  };
}

/** With what people read in forms. */
function settingsOf({ schema, fields }: VendorForm & VendorSettingsSchema): object {
  const { $schema: _, properties = {}, ...settings } = z.toJSONSchema(schema, { io: 'input' });
  const described = Object.entries(properties).map(([name, property]) => {
    const field = fields.find((one) => one.name === name);
    if (typeof property === 'boolean' || !field) return [name, property];
    return [name, { ...property, description: field.help, examples: [field.example] }];
  });
  return { ...settings, properties: Object.fromEntries(described) };
}
