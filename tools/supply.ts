import { type BuiltTool, cachedTool, type ToolName } from '../src/tools.ts';
import { installPackage } from './apt.ts';
import { type Build, buildTool } from './build.ts';
import { installSchemathesis } from './schemathesis.ts';

/** Terraform is looked for only: nothing here builds it, and no distribution packages it. */
export type SuppliedTool = Exclude<ToolName, 'terraform'> | 'schemathesis';

interface Package {
  packageName: string;
}

/** Minutes: with downloads, on 2 cores. */
const supplies: Record<Exclude<SuppliedTool, 'schemathesis'>, Package | (Build & { tool: BuiltTool })> = {
  pulumi: {
    tool: 'pulumi',
    label: 'pulumi and its language hosts',
    minutes: 4,
    site: 'https://www.pulumi.com/docs/install/',
  },
  opa: { tool: 'opa', label: 'opa', minutes: 1, site: 'https://www.openpolicyagent.org/docs/#running-opa' },
  tofu: { tool: 'tofu', label: 'OpenTofu', minutes: 4, site: 'https://opentofu.org/docs/intro/install/' },
  'terraform-provider-local': {
    tool: 'terraform-provider-local',
    label: 'the provider hashicorp/local',
    minutes: 1,
    site: 'https://registry.terraform.io/providers/hashicorp/local/latest',
  },
  'terraform-provider-random': {
    tool: 'terraform-provider-random',
    label: 'the provider hashicorp/random',
    minutes: 1,
    site: 'https://registry.terraform.io/providers/hashicorp/random/latest',
  },
  bwrap: { packageName: 'bubblewrap' },
  chromium: { packageName: 'chromium' },
};

export function isSupplied(name: string): name is SuppliedTool {
  return name === 'schemathesis' || Object.hasOwn(supplies, name);
}

/** Throws a UserError that says what to install when it cannot do it itself. The caller holds the set-up lock. */
export async function supplyTool(name: SuppliedTool, cacheDir: string, signal: AbortSignal): Promise<void> {
  if (name === 'schemathesis') return installSchemathesis(cacheDir, signal);
  const supply = supplies[name];
  if ('packageName' in supply) await installPackage(supply.packageName, signal);
  else await buildTool(supply, cachedTool(supply.tool, cacheDir), signal);
}
