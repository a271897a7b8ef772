import { formRefusal, refusedDraft } from '../../draft.ts';
import type { Form, FormResult } from '../../page-routes.ts';
import { policiesTab } from './policies-tab.ts';
import { readRun } from './run-facts.ts';
import { framed } from './run-frame.ts';

/** The form of override-section.ts. Throws `ApiRefusal`. */
export async function submitOverride(form: Form): Promise<FormResult> {
  const id = encodeURIComponent(form.param('run'));
  try {
    await form.api.send('POST', `/api/v1/runs/${id}/override`, { reason: form.field('reason').trim() });
    return { goTo: `/runs/${id}/policies` };
  } catch (error) {
    const { problem, status } = formRefusal(error);
    const facts = await readRun(form);
    const tab = await policiesTab(form, facts, refusedDraft(form, problem));
    return { page: framed(form, facts, 'policies', tab), status };
  }
}
