import type { VendorRules } from '../../stacks/vendor-settings.ts';
import { refusesVariable } from './environment.ts';
import { settingsSchema } from './settings.ts';

/** What stacks of Pulumi are judged by; known without the tool. */
export const pulumiRules: VendorRules = { name: 'pulumi', schema: settingsSchema, refusesVariable };
