import type { RunVerb } from '../../../../runs/explaining/verbs.ts';
import { runSchema } from '../../../api/run-object.ts';
import { ApiRefusal } from '../../in-process-api.ts';
import type { Form, FormResult } from '../../page-routes.ts';
import { type RefusedCommand, readRun } from './run-facts.ts';
import { firstTab } from './run-pages.ts';

const maxNote = 1000;

/** What the buttons post. A refusal that the person can do something about is the page again. Throws `ApiRefusal`. */
export async function submitRunCommand(form: Form, verb: RunVerb): Promise<FormResult> {
  const { api, param, field } = form;
  const id = encodeURIComponent(param('run'));
  const stateVersion = Number(field('state_version'));
  const typed = { verb, note: field('note').slice(0, maxNote), confirmation: field('confirmation') };
  try {
    const answer = await api.send('POST', `/api/v1/runs/${id}/${verb}`, {
      stateVersion,
      ...(typed.note.trim() === '' ? {} : { note: typed.note.trim() }),
      ...(typed.confirmation === '' ? {} : { confirmation: typed.confirmation }),
    });
    return { goTo: `/runs/${runSchema.parse(answer).id}` };
  } catch (error) {
    if (!(error instanceof ApiRefusal)) throw error;
    if (error.code === 'state-conflict') return again(form, { ...typed, lookedAt: stateVersion }, 409);
    if (error.code !== 'confirmation-required') throw error;
    return again(form, { ...typed, wrongConfirmation: 'This is not the name of the stack.' }, 422);
  }
}

async function again(form: Form, refused: RefusedCommand, status: 409 | 422): Promise<FormResult> {
  return { page: await firstTab(form, { ...(await readRun(form)), refused }), status };
}
