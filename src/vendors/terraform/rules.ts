import type { ToolTrouble, VendorField, VendorRules } from '../../stacks/vendor-settings.ts';
import { refusesVariable } from './environment.ts';
import { type Flavour, opentofu, terraform } from './flavour.ts';
import { settingsSchema } from './settings.ts';

const fields: readonly VendorField[] = [
  {
    name: 'stateUrl',
    label: 'State kept by Slipway',
    help: 'file:///state/<name> keeps the state on this server, for trying things out. Each stack of a repository needs a name of its own. Leave it empty when the program says where its state is, in a backend block.',
    example: 'file:///state/network',
    isOptional: true,
  },
  {
    name: 'workspace',
    label: 'Workspace',
    help: 'Selected after init, and made when there is none of that name. Empty: "default".',
    example: 'prod',
    isOptional: true,
  },
  {
    name: 'backendConfigFile',
    label: 'Backend configuration file',
    help: 'A file with what the backend block leaves open, as for "init -backend-config"; relative to the project root.',
    example: 'backends/prod.tfbackend',
    isOptional: true,
  },
  {
    name: 'variableFile',
    label: 'Variable file',
    help: 'A file with the values of variables, as for "plan -var-file"; relative to the project root.',
    example: 'environments/prod.tfvars',
    isOptional: true,
  },
];

/** What stacks of Terraform and of OpenTofu are judged by; known without the tools. */
export const terraformRules = rulesOf(terraform);
export const opentofuRules = rulesOf(opentofu);

function rulesOf({ name, label, program }: Flavour): VendorRules {
  const mend = (trouble: ToolTrouble) => forceUnlock(program, trouble);
  return { name, label, fields, schema: settingsSchema, refusesVariable, mend };
}

/** As backends name their locks: a UUID, a number, or the workspace of a remote backend. Nothing that a shell reads otherwise. */
const lockIds = [
  /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  /^\d{1,20}$/,
  /^[A-Za-z0-9_][\w-]{0,89}\/[A-Za-z0-9_][\w-]{0,89}$/,
];

/** Null without a lock that could be released: that of a local state goes with the process that held it. */
function forceUnlock(program: string, trouble: ToolTrouble): string | null {
  if (trouble.kind !== 'state-locked' || trouble.lockId === null) return null;
  const { lockId } = trouble;
  return lockIds.some((known) => known.test(lockId)) ? `${program} force-unlock -force ${lockId}` : null;
}
