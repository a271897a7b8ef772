import { z } from 'zod';

const schema = z.looseObject({
  builtins: z.array(z.looseObject({ name: z.string(), nondeterministic: z.boolean().optional() })).min(1),
});

/** opa does not mark these, yet they look at the machine, at its clock, or at what the policy is. */
const refused = new Set([
  ...['http.send', 'net.lookup_ip_addr', 'opa.runtime', 'rego.parse_module', 'trace'],
  ...['crypto.x509.parse_and_verify_certificates', 'crypto.x509.parse_and_verify_certificates_with_options'],
]);

/**
 * Of what a binary can do (`opa capabilities --current`), what a policy may do: no network, no clock, no chance, nothing
 * of the machine. The same input gives the same decision. Throws for a text that is no list of capabilities.
 */
export function pureCapabilities(current: string): string {
  const all = schema.parse(JSON.parse(current));
  const builtins = all.builtins.filter(
    ({ name, nondeterministic }) => nondeterministic !== true && !refused.has(name),
  );
  return JSON.stringify({ ...all, builtins, allow_net: [] });
}
