import { runSchema } from '../../../api/run-object.ts';
import type { Form, FormResult } from '../../page-routes.ts';

/** The form of next-steps.ts; shows the task. Throws `ApiRefusal`. */
export async function submitMend({ api, param }: Form): Promise<FormResult> {
  const made = await api.send('POST', `/api/v1/runs/${encodeURIComponent(param('run'))}/mend`);
  return { goTo: `/runs/${runSchema.parse(made).id}` };
}
