import type { ToolTrouble, VendorRules } from '../../stacks/vendor-settings.ts';
import { refusesVariable } from './environment.ts';
import { settingsSchema } from './settings.ts';

/** What stacks of Pulumi are judged by; known without the tool. */
export const pulumiRules: VendorRules = {
  name: 'pulumi',
  label: 'Pulumi',
  fields: [
    {
      name: 'loginUrl',
      label: 'Login URL',
      help: 'Where Pulumi keeps the state: an s3://, gs://, azblob:// or https:// address, as for "pulumi login". file:///state keeps it on this server, for trying things out.',
      example: 's3://acme-state',
    },
    {
      name: 'stackName',
      label: 'Stack name',
      help: 'What "pulumi stack ls" calls it there: the name alone, organization/stack or organization/project/stack.',
      example: 'acme/network/prod',
    },
  ],
  schema: settingsSchema,
  refusesVariable,
  mend,
};

/** A pulumi that was killed leaves its lock as well; `cancel` fails where there is none to release, with the service. */
function mend({ kind }: ToolTrouble): string {
  switch (kind) {
    case 'state-locked':
      return 'pulumi cancel --yes';
    case 'pending-operations':
      return 'pulumi cancel --yes; pulumi refresh --yes --skip-preview --clear-pending-creates';
  }
}
