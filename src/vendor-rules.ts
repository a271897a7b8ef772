import type { VendorRules } from './stacks/vendor-settings.ts';
import { pulumiRules } from './vendors/pulumi/rules.ts';
import { opentofuRules, terraformRules } from './vendors/terraform/rules.ts';

/** What stacks of every tool are judged by: known without the tools, and without a server. */
export const vendorRules: readonly VendorRules[] = [pulumiRules, terraformRules, opentofuRules];
