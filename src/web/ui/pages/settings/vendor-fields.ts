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

/** As the API calls it in what is wrong with it. */
export const vendorFieldName = (vendor: string, field: string): string => `vendor.${vendor}.${field}`;

/** The field with the name of the tool that a stack is run with. */
export const vendorNameField = 'vendorName';

/** The one that was chosen in a form; undefined when this server does not know it. */
export function chosenVendor(form: FieldValues, vendors: readonly Vendor[]): Vendor | undefined {
  return vendors.find(({ name }) => name === form.field(vendorNameField));
}

/**
 * What was typed for a vendor. Its schema judges it, fields that were left empty included; what may be left out is left
 * out then.
 */
export function vendorSettingsIn(
  form: FieldValues,
  { name: vendor, fields }: Vendor,
): Record<string, string> {
  const typed = fields.map(
    ({ name, optional }) => [name, form.field(vendorFieldName(vendor, name)).trim(), optional] as const,
  );
  return Object.fromEntries(
    typed
      .filter(([, value, isOptional]) => value !== '' || !isOptional)
      .map(([name, value]) => [name, value]),
  );
}

/**
 * Asks which tool a stack is run with, and what that one wants to know: the fields stand below each. The stylesheet
 * hides those of the others; sent they are all, and only those of the chosen one count.
 */
export function vendorChoice(draft: Draft, vendors: readonly Vendor[], help = ''): Markup {
  const wrong = draft.problem?.issues.find(({ path }) => path === 'vendor')?.message;
  const stored = draft.stored?.field(vendorNameField) ?? draft.field(vendorNameField);
  const wrongs = [
    ...(wrong === undefined ? [] : [wrong]),
    ...(stored === draft.field(vendorNameField) ? [] : [`Stored now: ${stored}`]),
  ];
  return html`<fieldset class="field tools"><legend>Run with</legend>
${help === '' ? '' : html`<p class="help">${help}</p>`}${wrongs.map((each) => html`<p class="wrong">${each}</p>`)}
${vendors.map((vendor) => vendorOption(draft, vendor))}</fieldset>`;
}

function vendorOption(draft: Draft, vendor: Vendor): Markup {
  const { name, label, installed } = vendor;
  const checked = draft.field(vendorNameField) === name ? html` checked` : '';
  const missing = installed ? '' : html` <span class="help">not installed on this server</span>`;
  return html`<div class="tool"><label class="check"><input type="radio" name="${vendorNameField}" value="${name}"${checked}> <span>${label}${missing}</span></label>
<div class="tool-fields" role="group" aria-label="${label}">${vendorFields(draft, vendor)}</div></div>
`;
}

function vendorFields(draft: Draft, { name: vendor, fields }: Vendor): Markup {
  return html`${fields.map(({ name, label, help, example, optional }) =>
    textField(draft, {
      ...{ name: vendorFieldName(vendor, name), label: optional ? `${label} (optional)` : label },
      attributes: html` class="mono" spellcheck="false" autocapitalize="off"`,
      help: html`${help} For example <code>${example}</code>`,
    }),
  )}`;
}
