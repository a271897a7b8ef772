/**
 * Which connections a run may make. Pure: names and resolved addresses in, a decision out.
 *
 * An entry of SANDBOX_ALLOWED_HOSTS or SANDBOX_UNTRUSTED_HOSTS is `host`, `*.suffix`, an address or a CIDR, each
 * optionally with `:port` (IPv6 in brackets then); without a port it means every port. A host, an address and a CIDR
 * also open private addresses; `*.suffix` does not, because other people's names end in it (`*.amazonaws.com` has
 * internal load balancers). This machine's own addresses are opened by a host or by the exact address only: a CIDR means
 * the neighbours. Loopback, link-local and metadata addresses are opened by nothing.
 */
import { isIPv6 } from 'node:net';
import { UserError } from '../../user-error.ts';
import {
  type AddressKind,
  addressKind,
  isIn,
  type Network,
  parseAddress,
  parseNetwork,
} from './proxy-addresses.ts';

export interface AllowedHost {
  readonly match:
    | { readonly kind: 'host' | 'suffix'; readonly name: string }
    | { readonly kind: 'network'; readonly network: Network };
  readonly port: number | null;
}

export interface Rules {
  readonly mode: 'public' | 'allowlist';
  readonly allowedHosts: readonly AllowedHost[];
}

export type Refusal =
  | 'not on the allow-list'
  | 'port not allowed'
  | 'own address of the server'
  | 'mixed addresses'
  | `${Exclude<AddressKind, 'public'>} address`;

/** Web ports; the rest of the internet has to be asked for by `host:port`. */
const publicPorts = [80, 443];

export const defaultListSetting = 'SANDBOX_ALLOWED_HOSTS';

/** `setting` is who is to blame for a wrong entry. */
export function parseAllowedHosts(
  entries: readonly string[],
  setting: string = defaultListSetting,
): AllowedHost[] {
  return entries.map((entry) => {
    const parsed = parseEntry(entry.trim().toLowerCase());
    if (parsed !== null) return parsed;
    throw new UserError(
      'config-invalid',
      `${setting}: ${JSON.stringify(entry)} is not a host, *.suffix, address or CIDR`,
      { hint: 'Examples: registry.example, *.example.com, 10.0.0.0/8, 10.1.2.3:8080, [fd00::1]:443' },
    );
  });
}

/** Before anything is resolved: a name nobody may reach is not looked up, since lookups carry data out too. */
export function judgeName(host: string, port: number, rules: Rules): Refusal | null {
  if (rules.mode === 'public') return null;
  const bytes = parseAddress(host);
  const isListed = rules.allowedHosts.some(
    (allowed) =>
      hasPort(allowed, port) && (names(allowed, host) || (bytes !== null && covers(allowed, bytes))),
  );
  return isListed ? null : 'not on the allow-list';
}

/** Every address of the answer has to pass, or a name could offer one to the judge and one to the dialler. */
export function judgeAddresses(
  host: string,
  port: number,
  addresses: readonly string[],
  own: readonly string[],
  rules: Rules,
): Refusal | null {
  const ownBytes = own.map((address) => parseAddress(address)).filter((bytes) => bytes !== null);
  const verdicts = addresses.map((address) => judgeAddress(host, port, address, ownBytes, rules));
  const refusal = verdicts.find((verdict) => verdict !== null) ?? null;
  return refusal !== null && verdicts.includes(null) ? 'mixed addresses' : refusal;
}

function judgeAddress(
  host: string,
  port: number,
  address: string,
  own: readonly Uint8Array[],
  rules: Rules,
): Refusal | null {
  const bytes = parseAddress(address);
  if (bytes === null) return 'reserved address';
  const listed = rules.allowedHosts.filter((allowed) => hasPort(allowed, port));
  const isNamed = listed.some(({ match }) => match.kind === 'host' && match.name === host);
  const networks = listed.flatMap(({ match }) => (match.kind === 'network' ? [match.network] : []));
  const containing = networks.filter((network) => isIn(bytes, network));

  const kind = addressKind(bytes);
  if (kind !== 'public' && kind !== 'private') return `${kind} address`;
  if (own.some((ours) => isSame(ours, bytes))) {
    const isExact = containing.some(({ bits }) => bits === bytes.length * 8);
    return isNamed || isExact ? null : 'own address of the server';
  }
  if (isNamed || containing.length > 0) return null;
  if (kind === 'private') return 'private address';
  // In allowlist mode the name was judged before.
  if (rules.mode === 'allowlist' || listed.some((allowed) => names(allowed, host))) return null;
  return publicPorts.includes(port) ? null : 'port not allowed';
}

function parseEntry(entry: string): AllowedHost | null {
  const bracketed = /^\[([^\]]+)\](?::(\d+))?$/.exec(entry);
  const isBareIpv6 = isIPv6(entry.replace(/\/\d+$/, ''));
  const plain = isBareIpv6 ? null : /^([^:]+)(?::(\d+))?$/.exec(entry);
  const [, target = entry, digits] = bracketed ?? plain ?? [];
  if (!isBareIpv6 && bracketed === null && plain === null) return null;
  const port = digits === undefined ? null : Number(digits);
  if (port !== null && (port < 1 || port > 65_535)) return null;
  const network = parseNetwork(target);
  if (network !== null) return { match: { kind: 'network', network }, port };
  if (bracketed !== null) return null;
  const isSuffix = target.startsWith('*.');
  const name = isSuffix ? target.slice(2) : target;
  if (!/^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/.test(name)) return null;
  if (isOddAddress(name)) return null;
  return { match: { kind: isSuffix ? 'suffix' : 'host', name }, port };
}

/** What resolvers take for an address though it is no literal (10.1, 0x7f000001). No name can end in a number. */
export function isOddAddress(host: string): boolean {
  return /(^|\.)(\d+|0x[0-9a-f]*)$/.test(host);
}

function hasPort(allowed: AllowedHost, port: number): boolean {
  return allowed.port === null || allowed.port === port;
}

function names({ match }: AllowedHost, host: string): boolean {
  if (match.kind === 'host') return host === match.name;
  return match.kind === 'suffix' && host.endsWith(`.${match.name}`);
}

function covers({ match }: AllowedHost, bytes: Uint8Array): boolean {
  return match.kind === 'network' && isIn(bytes, match.network);
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
