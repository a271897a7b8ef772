import type { Hono } from 'hono';
import type { WebEnv } from '../api.ts';
import { createPageRoutes, type PageRouteParts } from './page-routes.ts';
import { accountPage } from './pages/account/account-page.ts';
import { repositoriesPage } from './pages/account/repositories-page.ts';
import { endSession } from './pages/account/sessions.ts';
import { allRunsPage } from './pages/all-runs.ts';
import { auditPage } from './pages/audit/audit-page.ts';
import { createStack, newStackPage } from './pages/new-stack.ts';
import { addPolicyRoutes } from './pages/policies/policy-routes.ts';
import { submitRunCommand } from './pages/run/run-command.ts';
import { runPage, runTabPages } from './pages/run/run-pages.ts';
import { runVerbs } from './pages/run/run-verbs.ts';
import { submitOverride } from './pages/run/submit-override.ts';
import { addSettingsRoutes } from './pages/settings/settings-routes.ts';
import { submitLock } from './pages/stack/lock.ts';
import { stackPage, submitTrigger } from './pages/stack/stack-page.ts';
import { stacksPage } from './pages/stacks/stacks-page.ts';
import { systemPage } from './pages/system.ts';
import { makeToken, revokeToken, tokensPage } from './pages/tokens/tokens-page.ts';

/** Every page and form of the UI, but for logging in. */
export function uiRoutes(parts: PageRouteParts): Hono<WebEnv> {
  const pageRoutes = createPageRoutes(parts);
  const { routes, page, form } = pageRoutes;
  page('/', stacksPage);
  page('/stacks/new', newStackPage);
  form('/stacks/new', createStack);
  page('/stacks/:account/:stack', stackPage);
  form('/stacks/:account/:stack/runs', submitTrigger);
  form('/stacks/:account/:stack/lock', (submitted) => submitLock(submitted, 'PUT'));
  form('/stacks/:account/:stack/unlock', (submitted) => submitLock(submitted, 'DELETE'));
  addSettingsRoutes(pageRoutes);
  addPolicyRoutes(pageRoutes);
  page('/runs', allRunsPage);
  page('/runs/:run', runPage);
  for (const [tab, render] of Object.entries(runTabPages)) page(`/runs/:run/${tab}`, render);
  for (const verb of runVerbs) form(`/runs/:run/${verb}`, (submitted) => submitRunCommand(submitted, verb));
  form('/runs/:run/override', submitOverride);
  page('/system', systemPage);
  page('/account', accountPage);
  form('/account/sessions/end', endSession);
  page('/accounts/:account', repositoriesPage);
  page('/tokens', tokensPage);
  form('/tokens', makeToken);
  form('/tokens/revoke', revokeToken);
  page('/audit', auditPage);
  return routes;
}
