import { UserError } from '../../../../user-error.ts';
import { formRefusal, freshDraft, refusedDraft } from '../../draft.ts';
import type { Form, FormResult } from '../../page-routes.ts';
import { ifMatchOf } from './etag-field.ts';
import { generalPageWith } from './general.ts';
import { apiPathOf, stackOf } from './settings-frame.ts';
import { valuesOf } from './stack-form.ts';

/** The form of removal.ts. */
export async function deleteStack(form: Form): Promise<FormResult> {
  const stack = await stackOf(form);
  try {
    if (form.field('confirmation').trim() !== stack.value.name) throw notTheName();
    await form.api.send('DELETE', apiPathOf(form), undefined, { ifMatch: ifMatchOf(form) });
    return { goTo: '/' };
  } catch (error) {
    const { problem, status } = formRefusal(error);
    const settings = { ...freshDraft(), ...valuesOf(stack.value) };
    return { page: await generalPageWith(form, stack, settings, refusedDraft(form, problem)), status };
  }
}

function notTheName(): UserError {
  const issues = [{ path: 'confirmation', message: 'not the name of the stack' }];
  return new UserError('confirmation-required', 'The stack was not deleted.', { issues });
}
