import type { z } from 'zod';
import { type Stack, vendorName } from '../../stacks/stack.ts';
import type * as schemas from './schemas/stack.ts';

export function stackInput({
  id,
  account,
  repository,
  settings,
  lock,
}: Stack): z.infer<typeof schemas.stack> {
  const { name, description, labels, branch, autodeploy } = settings;
  const [namespace = '', repositoryName = ''] = repository.fullName.split('/');
  return {
    ...{ id, name, description, labels: [...labels], account },
    ...{ namespace, repository: repositoryName, branch },
    project_root: settings.projectRoot,
    additional_project_globs: [...settings.additionalProjectGlobs],
    ...{ autodeploy, vendor: vendorName(settings.vendor), locked_by: lock?.holder ?? null },
  };
}
