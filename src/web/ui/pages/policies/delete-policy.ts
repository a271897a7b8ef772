import { UserError } from '../../../../user-error.ts';
import { formRefusal, refusedDraft } from '../../draft.ts';
import type { Form, FormResult } from '../../page-routes.ts';
import { ifMatchOf } from '../settings/etag-field.ts';
import { policyPageWith } from './policy-page.ts';
import { apiPathOf, readPolicy } from './policy-reads.ts';

/** The form of policy-removal.ts. */
export async function deletePolicy(form: Form): Promise<FormResult> {
  const policy = await readPolicy(form);
  try {
    if (form.field('confirmation').trim() !== policy.value.name) throw notTheName();
    await form.api.send('DELETE', apiPathOf(form), undefined, { ifMatch: ifMatchOf(form) });
    return { goTo: '/policies' };
  } catch (error) {
    const { problem, status } = formRefusal(error);
    return { page: await policyPageWith(form, policy, refusedDraft(form, problem)), status };
  }
}

function notTheName(): UserError {
  const issues = [{ path: 'confirmation', message: 'not the name of the policy' }];
  return new UserError('confirmation-required', 'The policy was not deleted.', { issues });
}
