import type { PlanJson } from './plan-json.ts';

/** Of the format: what policies go by. */
const ofFormat = [
  ...['resource_changes', 'resource_drift', 'output_changes', 'variables', 'planned_values', 'prior_state'],
  ...['configuration', 'root_module', 'child_modules', 'resources', 'outputs', 'values', 'value', 'change'],
  ...['actions', 'before', 'after', 'after_unknown', 'before_sensitive', 'after_sensitive', 'sensitive'],
  ...['sensitive_values', 'replace_paths', 'importing', 'action_reason', 'format_version', 'checks'],
  ...['address', 'module_address', 'previous_address', 'mode', 'type', 'name', 'index', 'provider_name'],
  ...['managed', 'data', 'no-op', 'create', 'read', 'update', 'delete', 'forget'],
];

/** Somebody's password may be "delete", or a type of this plan: no policy should miss what it looks for because of that. */
export function documentWords({
  resource_changes: changes = [],
}: Pick<PlanJson, 'resource_changes'>): string[] {
  return [...new Set([...ofFormat, ...(changes ?? []).map(({ type }) => type)])];
}
