import { z } from 'zod';

const value = (text: string) => z.unknown().optional().describe(text);

const change = z
  .looseObject({
    actions: z
      .array(z.string())
      .describe(
        '["no-op"], ["create"], ["read"], ["update"], ["delete"], ["forget"]; a replacement is ["delete", "create"] or ["create", "delete"].',
      ),
    before: value('The values before; null when there was nothing.'),
    after: value(
      'The values after, without those that are known after the apply; null when nothing is left.',
    ),
    after_unknown: value('`true` in place of each value that is known after the apply.'),
    before_sensitive: value('`true` in place of each secret value of `before`.'),
    after_sensitive: value('`true` in place of each secret value of `after`.'),
    replace_paths: z.array(z.unknown()).optional().describe('Paths of what forces the replacement.'),
    importing: value('Set when the resource is taken over: it is there already.'),
  })
  .describe('What is to be done. A secret is the text "[secret]".');

const resourceChange = z.looseObject({
  address: z.string().describe('Of the resource, e.g. `module.net.aws_subnet.a["x"]`.'),
  previous_address: z.string().optional().describe('Where it was before, when it is moved.'),
  module_address: z.string().optional().describe('Of its module; absent in the root module.'),
  mode: z.string().describe('`managed`, or `data` for a data source.'),
  type: z.string().describe('Type of the resource, e.g. `aws_subnet`.'),
  name: z.string().describe('Name in the configuration.'),
  index: z.union([z.string(), z.number()]).optional().describe('Key of `for_each` or number of `count`.'),
  deposed: z.string().optional().describe('Set for what an earlier replacement has left behind.'),
  provider_name: z.string().optional().describe('e.g. `registry.terraform.io/hashicorp/aws`.'),
  change,
  action_reason: z.string().optional().describe('Why, where the actions alone do not tell.'),
});

/** The plan in the tool's own format; it has more than is named here, and says more with each version. */
export const terraformPlan = z.looseObject({
  format_version: z.string().describe('Of the format, e.g. `1.2`.'),
  terraform_version: z.string().optional().describe('Of the tool, for OpenTofu too.'),
  resource_changes: z
    .array(resourceChange)
    .optional()
    .describe('Every resource and data source that is planned; absent when there is none.'),
  resource_drift: z
    .array(resourceChange)
    .optional()
    .describe('What has changed outside of the tool since the last apply.'),
  output_changes: z
    .record(z.string(), change)
    .optional()
    .describe('Of the outputs of the root module, by name.'),
  variables: value('The variables of the root module by name, each with its `value`.'),
  planned_values: value('All that there will be: `outputs` and `root_module`.'),
  prior_state: value('The state before.'),
  configuration: value('The configuration: `provider_config` and `root_module`.'),
  checks: value('Results of check blocks and conditions.'),
});
