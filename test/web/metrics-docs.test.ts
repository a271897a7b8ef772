import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parsePrometheusText } from '../support/prometheus-text.ts';
import { anInstallation, call } from './installation.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');

/** Families with the labels of their samples: `{state="pending"}`. */
async function served() {
  await using installation = anInstallation();
  const { text } = await call(installation, 'GET', '/metrics', { token: await installation.token('reader') });
  return parsePrometheusText(text);
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}

function alertRules(): readonly Rule[] {
  const blocks = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, code = '']) => code);
  const rules = blocks.find((code) => code.startsWith('groups:')) ?? '';
  return (parse(rules) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);
}

describe('the page on operations', () => {
  it('has every series, and no other', async () => {
    const rows = page.split('\n').filter((line) => /^\| `(slipway|process|nodejs)_/.test(line));
    const named = rows.flatMap((row) =>
      [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name),
    );

    expect(named.sort()).toEqual([...(await served()).keys()].sort());
  });

  it('has the values of every label but the states of runs', async () => {
    const families = await served();
    const rows = [...page.matchAll(/^\| `(\w+)` \| `(\w+)`: ([\w, ]+) \|/gm)];
    expect(rows.length).toBeGreaterThan(4);
    for (const [, name = '', label, listed = ''] of rows) {
      if (name === 'slipway_runs') continue;
      const samples = [...(families.get(name)?.samples.keys() ?? [])];
      expect(samples).toEqual(listed.split(', ').map((value) => `${name}{${label}="${value}"}`));
    }
  });

  it('alerts on series and labels that there are', async () => {
    const families = await served();
    const rules = alertRules();

    expect(rules.length).toBeGreaterThan(8);
    for (const { alert, expr, labels, annotations } of rules) {
      expect([alert, labels.severity]).toEqual([alert, expect.stringMatching(/^(page|ticket)$/)]);
      expect(annotations.summary).toMatch(/\.$/);
      for (const [, name = '', selector = ''] of expr.matchAll(
        /\b(slipway_\w+?)(?:_bucket)?\b(\{[^}]*\})?/g,
      )) {
        const samples = [...(families.get(name)?.samples.keys() ?? [])];
        const wanted = selector.replace('!=', '=');
        expect([alert, name, samples.some((sample) => sample.includes(wanted))]).toEqual([alert, name, true]);
      }
    }
  });
});
