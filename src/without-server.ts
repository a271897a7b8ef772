import type { Config } from './config.ts';
import { openCheckout } from './github/simulate/checkout.ts';
import type { Simulation } from './github/simulate/decision.ts';
import { type SimulationInput, simulate } from './github/simulate/simulate.ts';
import { parseRepositoryFile } from './stacks/repository-file.ts';
import { vendorRules } from './vendor-rules.ts';

/** What the server would decide about an event of GitHub; nobody is asked, and nothing is stored. */
export function simulateEvent(
  config: Config,
  { directory, ...input }: Omit<SimulationInput, 'checkout' | 'vendors'> & { readonly directory: string },
): Promise<Simulation> {
  const git = { webUrl: config.githubAddress.webUrl, path: config.tools.path, caBundle: null };
  return simulate({ ...input, checkout: openCheckout(directory, git), vendors: vendorRules });
}

/** What the server would say about a repository file, as far as that can be said without one. */
export function checkRepositoryFile(content: Uint8Array) {
  // Any branch will do: what is not said in the file is not judged.
  const parsed = parseRepositoryFile(content, { vendors: vendorRules, defaultBranch: 'main' });
  return parsed.kind === 'wanted'
    ? { stacks: parsed.stacks.map(({ id }) => id), problems: [] }
    : { stacks: [], problems: parsed.problems };
}
