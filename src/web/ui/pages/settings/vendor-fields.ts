import { html } from 'hono/html';
import { z } from 'zod';
import { vendorSchema } from '../../../api/vendors.ts';
import { textField } from '../../components/form-field.ts';
import type { Draft, FieldValues } from '../../draft.ts';
import type { Markup } from '../../layout.ts';
import type { View } from '../../page-routes.ts';
import type { Stack } from './settings-frame.ts';

export type Vendor = z.output<typeof vendorSchema>;

const vendorList = z.object({ items: z.array(vendorSchema) });

export async function vendorsOf({ api }: Pick<View, 'api'>): Promise<readonly Vendor[]> {
  return (await api.get('/api/v1/vendors', vendorList)).items;
}

/** What the vendor of a stack knows of it: the settings below its one key. */
export function vendorOf({ vendor }: Stack): {
  readonly name: string;
  readonly settings: Readonly<Record<string, unknown>>;
} {
  const [name = '', settings] = Object.entries(vendor)[0] ?? [];
  return { name, settings: z.record(z.string(), z.unknown()).catch({}).parse(settings) };
}

/** Undefined for one that this server does not have. */
export async function vendorOfStack(view: Pick<View, 'api'>, stack: Stack): Promise<Vendor | undefined> {
  const { name } = vendorOf(stack);
  return (await vendorsOf(view)).find((vendor) => vendor.name === name);
}

/** As the API calls it in what is wrong with it. */
export const vendorFieldName = (vendor: string, field: string): string => `vendor.${vendor}.${field}`;

/** What was typed for a vendor. Its schema judges it, fields that were left empty included. */
export function vendorSettingsIn(
  form: FieldValues,
  { name: vendor, fields }: Vendor,
): Record<string, string> {
  return Object.fromEntries(
    fields.map(({ name }) => [name, form.field(vendorFieldName(vendor, name)).trim()]),
  );
}

export function vendorFields(draft: Draft, { name: vendor, fields }: Vendor): Markup {
  return html`${fields.map(({ name, label, help, example }) =>
    textField(draft, {
      ...{ name: vendorFieldName(vendor, name), label },
      attributes: html` class="mono" spellcheck="false" autocapitalize="off"`,
      help: html`${help} For example <code>${example}</code>`,
    }),
  )}`;
}
