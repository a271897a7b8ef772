import { html } from 'hono/html';
import type { Markup } from '../../layout.ts';
import type { Stack } from './settings-frame.ts';
import { checksField, deploymentField, type SettingField, settingGroups } from './stack-fields.ts';
import { type Vendor, vendorOf } from './vendor-fields.ts';

/** The settings of a stack for who cannot change them. */
export function generalFacts(stack: Stack, vendors: readonly Vendor[]): Markup {
  const { name: tool, settings } = vendorOf(stack);
  const vendor = vendors.find(({ name }) => name === tool);
  const checks = checksField.choices.find(({ value }) => value === stack.checks)?.words;
  const github: readonly Fact[] = [
    { label: checksField.label, value: checks ?? stack.checks },
    { label: deploymentField.label, value: environmentOf(stack) },
  ];
  const asked = (vendor?.fields ?? []).map(({ name, label }) => ({
    label,
    value: String(settings[name] ?? ''),
  }));
  return html`${settingGroups.map(({ title, fields }) =>
    factsOf(
      title,
      fields.map((field) => factOf(field, stack)),
    ),
  )}
${factsOf('On GitHub', github)}
${vendor ? factsOf(`Run with ${vendor.label}`, asked) : ''}`;
}

interface Fact {
  readonly label: string;
  readonly value: string | readonly string[];
}

const factsOf = (title: string, facts: readonly Fact[]): Markup => html`<h2>${title}</h2>
<dl class="facts">${facts.map(({ label, value }) => html`<dt>${label}</dt><dd>${shown(value)}</dd>`)}</dl>`;

function shown(value: string | readonly string[]): Markup {
  if (value.length === 0) return html`<span class="soft">nothing</span>`;
  if (typeof value === 'string') return html`${value}`;
  return html`${value.map((entry) => html`<div><code>${entry}</code></div>`)}`;
}

function factOf({ name, label }: SettingField, stack: Stack): Fact {
  const value = stack[name];
  if (typeof value === 'boolean') return { label, value: value ? 'yes' : 'no' };
  return { label, value };
}

function environmentOf({ deploymentEnvironment, id }: Stack): string {
  if (deploymentEnvironment === '') return 'none';
  return deploymentEnvironment ?? id;
}
