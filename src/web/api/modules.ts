import { createRoute } from '@hono/zod-openapi';
import { UserError } from '../../user-error.ts';
import { type Api, newApi } from '../api.ts';
import { needs, problems, refuses } from './route-parts.ts';

const createModuleRoute = createRoute({
  method: 'post',
  path: '/api/v1/modules',
  operationId: 'createModule',
  tags: ['modules'],
  summary: 'Always refused: the specification has no modules for Pulumi (§1.3)',
  ...needs('any'),
  ...refuses('modules-unavailable'),
  responses: { ...problems },
});

export function moduleRoutes(): Api {
  const api = newApi();
  api.openapi(createModuleRoute, () => {
    throw new UserError('modules-unavailable', 'module CI/CD is not available for Pulumi');
  });
  return api;
}
