import type { Hono } from 'hono';
import { createPageRoutes, type PageRouteParts } from './page-routes.ts';
import { runPage, runVerbs, submitRunCommand } from './pages/run.ts';
import { stackPage } from './pages/stack.ts';
import { stacksPage } from './pages/stacks.ts';

/** Every page and form of the UI, but for logging in. */
export function uiRoutes(parts: PageRouteParts): Hono {
  const { routes, page, form } = createPageRoutes(parts);
  page('/', stacksPage);
  page('/stacks/:account/:stack', stackPage);
  page('/runs/:run', runPage);
  for (const verb of runVerbs) form(`/runs/:run/${verb}`, (submitted) => submitRunCommand(submitted, verb));
  return routes;
}
