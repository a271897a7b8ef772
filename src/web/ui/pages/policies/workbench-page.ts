import { html } from 'hono/html';
import { needsAccountAdmin } from '../../../api/policy-guard.ts';
import { problemNotice, wrongsOf } from '../../components/form-field.ts';
import { type Draft, fieldValues, formRefusal, freshDraft, refusedDraft } from '../../draft.ts';
import type { Tagged } from '../../in-process-api.ts';
import { formToken, type Markup, type Page } from '../../layout.ts';
import type { Form, FormResult, View } from '../../page-routes.ts';
import { etagField, ifMatchOf } from '../settings/etag-field.ts';
import { benchInput, firstChoice, readSamples, type Sample, samplesField } from './bench-input.ts';
import { pastRuns, simulation } from './bench-results.ts';
import { checkedNotice, isChecked } from './checked.ts';
import { sourceFields, sourceIn, valuesOf } from './policy-form.ts';
import { policyFrame } from './policy-frame.ts';
import { apiPathOf, type Policy, policyPath, readPolicy } from './policy-reads.ts';

/** What the page is made of beside what is typed. */
interface Bench {
  readonly policy: Tagged<Policy>;
  readonly samples: readonly Sample[];
}

/** Tries a policy out on what it would judge, edited or not; for those who manage it. */
export async function workbenchPage(view: View): Promise<Page> {
  const bench = await readBench(view);
  const { body, regoVersion } = bench.policy.value;
  const values = { body, regoVersion: String(regoVersion), last: '10', ...firstChoice(view, bench) };
  return pageWith(view, bench, { ...freshDraft(), ...fieldValues(values) });
}

async function readBench(view: View): Promise<Bench> {
  const policy = await readPolicy(view);
  if (!view.isInstanceAdmin) throw needsAccountAdmin();
  return { policy, samples: await readSamples(view, apiPathOf(view)) };
}

function pageWith(view: View, bench: Bench, draft: Draft, result: Markup | string = ''): Page {
  const { policy, samples } = bench;
  const { id, kind, version } = policy.value;
  const body = html`<p>Nothing is recorded here, and nothing is blocked by it.</p>
${problemNotice(draft)}${result}
<form method="post" action="${policyPath(id)}/workbench" class="bench">${formToken(view.session)}${etagField(policy.etag)}
${samplesField(draft, kind, samples, view.nowMs)}
${sourceFields(draft)}
<div class="bench-buttons"><button class="primary" name="act" value="simulate">Simulate</button>
<button name="act" value="check">Check it</button>
<button name="act" value="save">Save as version ${version + 1}</button>
${kind === 'PLAN' ? pastRunsButton(draft) : ''}</div></form>`;
  return policyFrame(view, policy.value, 'Workbench', body);
}

function pastRunsButton(draft: Draft): Markup {
  const wrongs = wrongsOf(draft, 'last');
  const invalid = wrongs.length > 0 ? html` aria-invalid="true" aria-describedby="last-wrong"` : '';
  return html`<button name="act" value="runs">What would have happened</button>
<label>in the last <input type="number" name="last" min="1" max="50" value="${draft.field('last')}"${invalid}> runs</label>
${wrongs.length > 0 ? html`<p class="wrong" id="last-wrong">${wrongs.join('; ')}</p>` : ''}`;
}

/** The buttons of the page. */
export async function tryOut(form: Form): Promise<FormResult> {
  const stored = await readBench(form);
  const { id } = stored.policy.value;
  // Until it is saved, what was loaded at first counts.
  const bench = { ...stored, policy: { ...stored.policy, etag: ifMatchOf(form) } };
  try {
    if (form.field('act') === 'save') {
      await form.api.send('PUT', apiPathOf(form), sourceIn(form), { ifMatch: ifMatchOf(form) });
      return { goTo: policyPath(id) };
    }
    const asTyped = { ...form, problem: null, stored: null };
    return { page: pageWith(form, bench, asTyped, await resultOf(form, bench)), status: 200 };
  } catch (error) {
    const { problem, status } = formRefusal(error);
    const next = problem.code === 'precondition-failed' ? stored : bench;
    const draft = refusedDraft(form, problem, valuesOf(stored.policy.value));
    return { page: pageWith(form, next, draft), status };
  }
}

async function resultOf(form: Form, { policy }: Bench): Promise<Markup> {
  const source = sourceIn(form);
  const { kind } = policy.value;
  if (isChecked(form)) return checkedNotice(form, kind);
  if (form.field('act') === 'runs' && kind === 'PLAN') {
    const last = Number(form.field('last'));
    return pastRuns(await form.api.send('POST', `${apiPathOf(form)}/simulate-runs`, { ...source, last }));
  }
  const asked = { ...source, ...benchInput(form) };
  return simulation(await form.api.send('POST', `${apiPathOf(form)}/simulate`, asked), source.body);
}
