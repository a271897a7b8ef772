import type { VendorContext } from '../../worker/vendor.ts';
import type { Flavour } from './flavour.ts';

/** Set on every command of a run, hooks and tasks included. */
export function baseEnvironment(flavour: Flavour, context: VendorContext): Record<string, string> {
  const cache = pluginCache(flavour, context);
  return {
    // Modules, providers and the settings of the backend, credentials among them: never in the checkout.
    TF_DATA_DIR: dataDirectory(context),
    TF_IN_AUTOMATION: 'true',
    TF_INPUT: '0',
    // No question to the makers whether there is something newer.
    CHECKPOINT_DISABLE: 'true',
    ...(cache === null ? {} : { TF_PLUGIN_CACHE_DIR: cache }),
  };
}

/** It survives from phase to phase: an apply finds what `init` left there. */
export function dataDirectory({ paths }: VendorContext): string {
  return `${paths.home}/.terraform-data`;
}

/** Providers that runs share; null when nothing is kept. */
export function pluginCache({ name }: Flavour, { paths }: VendorContext): string | null {
  return paths.cache === null ? null : `${paths.cache}/${name}`;
}

/**
 * Names that are ours, that would make a command mean something else than what was confirmed, or that print secrets.
 * What is about variables, credentials, backends, encryption or the way to registries stays free: TF_VAR_*, TF_TOKEN_*,
 * TF_HTTP_*, TF_ENCRYPTION, TF_CLI_CONFIG_FILE, TF_REGISTRY_*, ...
 */
export function refusesVariable(name: string): boolean {
  return refusedNames.has(name) || refusedPrefixes.some((prefix) => name.startsWith(prefix));
}

const refusedNames = new Set([
  'TF_WORKSPACE',
  'TF_DATA_DIR',
  'TF_INPUT',
  'TF_IN_AUTOMATION',
  'CHECKPOINT_DISABLE',
  // The tool would talk to a process of the user's instead of starting the provider.
  'TF_REATTACH_PROVIDERS',
]);

const refusedPrefixes = [
  // Arguments in front of ours: `-target`, `-state`, `-lock=false`, another directory.
  'TF_CLI_ARGS',
  // Logs hold requests and responses of providers in clear. TF_LOG_PATH would write them to a file.
  'TF_LOG',
  'TF_PLUGIN_CACHE_',
];
