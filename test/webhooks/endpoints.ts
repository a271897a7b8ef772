import { createWebhooks, type Webhooks } from '../../src/webhooks/endpoint.ts';
import { parseAllowedTargets } from '../../src/webhooks/targets/allowed-targets.ts';
import { createTargetGuard } from '../../src/webhooks/targets/target-guard.ts';
import type { Stores } from './stores.ts';

/** Endpoints on these stores; names that begin with `private.` have a private address. */
export function webhooksOn(stores: Stores): Webhooks {
  const resolve = (hostname: string) =>
    Promise.resolve(hostname.startsWith('private.') ? ['10.0.0.1'] : ['93.184.215.14']);
  return createWebhooks({
    store: stores.webhooks,
    deliveries: stores.deliveries,
    missed: stores.missed,
    pump: { recall: () => undefined },
    targetGuard: createTargetGuard({ allowed: parseAllowedTargets([]), resolve }),
    transactions: stores.database,
    clock: stores.clock,
    newId: stores.newId,
  });
}
