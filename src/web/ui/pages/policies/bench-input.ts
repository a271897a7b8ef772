import { html } from 'hono/html';
import { z } from 'zod';
import type { PolicyKind } from '../../../../policies/policy.ts';
import { UserError } from '../../../../user-error.ts';
import { sampleSchema } from '../../../api/policy-samples.ts';
import { textArea, textField, wrongsOf } from '../../components/form-field.ts';
import { outcomeBadge } from '../../components/outcome-badge.ts';
import { timeAgo } from '../../components/time.ts';
import type { Draft, FieldValues } from '../../draft.ts';
import type { Markup } from '../../layout.ts';
import type { View } from '../../page-routes.ts';

export type Sample = z.output<typeof sampleSchema>;

const sampleList = z.object({ items: z.array(sampleSchema) });
const ofSample = 'sample:';

export const readSamples = async ({ api }: View, policyApiPath: string): Promise<readonly Sample[]> =>
  (await api.get(`${policyApiPath}/samples`, sampleList)).items;

/** As links to the page name it, else the newest sample. */
export function firstChoice(
  { query }: View,
  { samples }: { readonly samples: readonly Sample[] },
): Readonly<Record<string, string>> {
  const [run, sample] = [query('run'), query('sample') ?? samples[0]?.id];
  if (run !== undefined) return { from: 'run', run };
  return { from: sample === undefined ? 'input' : `${ofSample}${sample}`, input: '{}' };
}

/** Which input is judged: one that was kept, the plan of a run, or one that is typed. */
export function samplesField(
  draft: Draft,
  kind: PolicyKind,
  samples: readonly Sample[],
  nowMs: number,
): Markup {
  const radio = (value: string, words: Markup | string) =>
    html`<label class="check"><input type="radio" name="from" value="${value}"${draft.field('from') === value ? html` checked` : ''}> <span>${words}</span></label>`;
  const wrong = wrongsOf(draft, 'sample').join('; ');
  return html`<fieldset class="field"><legend>What it judges</legend>
${
  samples.length === 0
    ? html`<p class="help">No input of it is kept. One is, for 7 days, whenever a policy says so: <code>sample := true</code></p>`
    : html`<div class="samples">${samples.map((sample) => radio(`${ofSample}${sample.id}`, sampleWords(sample, nowMs)))}</div>`
}
${wrong === '' ? '' : html`<p class="wrong">${wrong}</p>`}
${kind === 'PLAN' ? radio('run', 'the plan of a run:') : ''}
${radio('input', 'the JSON below')}
</fieldset>
${
  kind === 'PLAN'
    ? textField(draft, {
        ...{ name: 'run', label: 'Run' },
        attributes: html` class="mono" maxlength="200" spellcheck="false" autocomplete="off" placeholder="01JD4Z0P6V3Q8N5T2W7X9Y1B4C"`,
        help: 'Its id, as in the address of its page.',
      })
    : ''
}
<details${draft.field('from') === 'input' ? html` open` : ''}><summary>JSON to judge</summary>
${textArea(draft, {
  ...{ name: 'input', label: 'Input', rows: 8 },
  attributes: html` class="wide" spellcheck="false" autocapitalize="off" autocomplete="off"`,
  help: 'An object; what it has for each kind stands in the documentation of policies.',
})}</details>`;
}

function sampleWords({ id, subject, outcome, stack, at, policyVersion }: Sample, nowMs: number): Markup {
  const where = stack ? html` of ${stack.account}/${stack.id}` : '';
  return html`<bdi>${subject}</bdi>${where}, ${timeAgo(at, nowMs)}: ${outcomeBadge(outcome)} <span class="small soft">by version ${policyVersion}, <a href="/api/v1/samples/${id}">as JSON</a></span>`;
}

/** As the API takes it. Throws `invalid-input` for what is no JSON. */
export function benchInput({ field }: FieldValues): Readonly<Record<string, unknown>> {
  const from = field('from');
  if (from.startsWith(ofSample)) return { sample: from.slice(ofSample.length) };
  if (from === 'run') return { run: field('run').trim() };
  return { input: jsonIn(field('input')) };
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const message = 'not JSON';
    throw new UserError('invalid-input', message, { issues: [{ path: 'input', message }] });
  }
}
