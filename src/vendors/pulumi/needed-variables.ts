import type { PulumiStackFile } from './project.ts';

/** A variable that runs of a stack will want, and what for. */
export interface NeededVariable {
  readonly name: string;
  readonly why: string;
}

const clouds: Readonly<Record<string, readonly string[]>> = {
  aws: ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_REGION'],
  google: ['GOOGLE_CREDENTIALS'],
  azureStorage: ['AZURE_STORAGE_ACCOUNT', 'AZURE_STORAGE_KEY'],
  azure: ['AZURE_CLIENT_ID', 'AZURE_CLIENT_SECRET', 'AZURE_TENANT_ID'],
  vault: ['VAULT_ADDR', 'VAULT_TOKEN'],
};

const ofBackend: Readonly<Record<string, readonly string[] | undefined>> = {
  's3:': clouds['aws'],
  'gs:': clouds['google'],
  'azblob:': clouds['azureStorage'],
  'https:': ['PULUMI_ACCESS_TOKEN'],
};

const ofSecrets: Readonly<Record<string, readonly string[] | undefined>> = {
  passphrase: ['PULUMI_CONFIG_PASSPHRASE'],
  'awskms:': clouds['aws'],
  'gcpkms:': clouds['google'],
  'azurekeyvault:': clouds['azure'],
  'hashivault:': clouds['vault'],
};

/**
 * The names only: values stay where they are. It is what the state backend and the encryption of secrets are known to
 * take; what the providers of the program want, nobody can read off the files.
 */
export function neededVariables(
  loginUrl: string,
  stacks: readonly Pick<PulumiStackFile, 'secretsProvider'>[],
): readonly NeededVariable[] {
  const scheme = (url: string) => /^[a-z0-9+.-]+:/i.exec(url)?.[0].toLowerCase() ?? url;
  const backend = scheme(loginUrl);
  // Without its own service Pulumi encrypts with a passphrase, an empty one included.
  const fallback = backend === 'https:' ? 'service' : 'passphrase';
  const providers = stacks.map(({ secretsProvider }) => scheme(secretsProvider ?? fallback));
  const needed = new Map<string, string>();
  for (const name of ofBackend[backend] ?? []) needed.set(name, 'the state backend');
  for (const provider of providers) {
    for (const name of ofSecrets[provider] ?? []) {
      needed.set(name, needed.get(name) ?? 'the encryption of secrets in configuration and state');
    }
  }
  return [...needed].map(([name, why]) => ({ name, why }));
}
