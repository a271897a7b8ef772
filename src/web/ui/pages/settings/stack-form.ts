import { isDeepStrictEqual } from 'node:util';
import { type FieldValues, fieldValues, lineFeeds, linesOf } from '../../draft.ts';
import type { Stack } from './settings-frame.ts';
import { checksField, deploymentField, type SettingField, settingGroups } from './stack-fields.ts';
import {
  chosenVendor,
  type Vendor,
  vendorFieldName,
  vendorNameField,
  vendorOf,
  vendorSettingsIn,
} from './vendor-fields.ts';

/** Between a stack of the API and the fields of its form. */
const allFields = settingGroups.flatMap(({ fields }) => fields);

/** What the form shows of a stack that is stored. */
export function valuesOf(stack: Stack): FieldValues {
  const { deploymentEnvironment } = stack;
  const { name: vendor, settings } = vendorOf(stack);
  return fieldValues({
    ...Object.fromEntries(allFields.map((field) => [field.name, shownIn(field, stack)])),
    checks: stack.checks,
    [`${deploymentField.name}.kind`]: environmentKind(deploymentEnvironment),
    [deploymentField.name]: deploymentEnvironment ?? '',
    [vendorNameField]: vendor,
    ...Object.fromEntries(
      Object.entries(settings).map(([name, value]) => [vendorFieldName(vendor, name), String(value ?? '')]),
    ),
  });
}

function shownIn({ name, kind }: SettingField, stack: Stack): string {
  const value = stack[name];
  if (kind === 'switch') return value === true ? 'yes' : '';
  return Array.isArray(value) ? value.join('\n') : String(value);
}

const environmentKind = (name: string | null): 'default' | 'none' | 'named' => {
  if (name === null) return 'default';
  return name === '' ? 'none' : 'named';
};

/** What of the form is not as it is stored: a change of the API. Empty when there is nothing to do. */
export function changesIn(
  form: FieldValues,
  stack: Stack,
  vendors: readonly Vendor[],
): Readonly<Record<string, unknown>> {
  const typed = settingsIn(form, vendors);
  const stored = settingsIn(valuesOf(stack), vendors);
  return Object.fromEntries(
    Object.entries(typed).filter(([name, value]) => !isDeepStrictEqual(value, stored[name])),
  );
}

function settingsIn(form: FieldValues, vendors: readonly Vendor[]): Readonly<Record<string, unknown>> {
  const vendor = chosenVendor(form, vendors);
  return {
    ...Object.fromEntries(allFields.map((field) => [field.name, typedIn(field, form)])),
    [checksField.name]: form.field('checks'),
    [deploymentField.name]: environmentIn(form),
    ...(vendor && { vendor: { [vendor.name]: vendorSettingsIn(form, vendor) } }),
  };
}

function typedIn({ name, kind }: SettingField, form: FieldValues): unknown {
  const value = form.field(name);
  switch (kind) {
    case 'switch':
      return value === 'yes';
    case 'lines':
      return linesOf(value);
    case 'text':
      return lineFeeds(value);
    case 'line':
      return value.trim();
  }
}

function environmentIn(form: FieldValues): string | null {
  switch (form.field(`${deploymentField.name}.kind`)) {
    case 'named':
      return form.field(deploymentField.name).trim();
    case 'none':
      return '';
    default:
      return null;
  }
}
