import type { PageRoutes } from '../../page-routes.ts';
import { deletePolicy } from './delete-policy.ts';
import { editPolicyPage, savePolicy } from './edit-policy.ts';
import { createPolicy, newPolicyPage } from './new-policy.ts';
import { policiesPage } from './policies-page.ts';
import { policyPage } from './policy-page.ts';
import { versionsPage } from './versions-page.ts';
import { tryOut, workbenchPage } from './workbench-page.ts';

/** Policies: their list, each of them, and the bench to try them out on. */
export function addPolicyRoutes({ page, form }: PageRoutes): void {
  page('/policies', policiesPage);
  page('/policies/new', newPolicyPage);
  form('/policies/new', createPolicy);

  const policy = '/policies/:policy';
  page(policy, policyPage);
  form(`${policy}/delete`, deletePolicy);
  page(`${policy}/versions`, versionsPage);
  page(`${policy}/edit`, editPolicyPage);
  form(`${policy}/edit`, savePolicy);
  page(`${policy}/workbench`, workbenchPage);
  form(`${policy}/workbench`, tryOut);
}
