/**
 * What kind of place an address is. Pure. Judged on bytes, never on text: `::ffff:7f00:1`, `64:ff9b::7f00:1` and
 * `127.0.0.1` are one machine, and the forms that hide an IPv4 address are as many as attackers need.
 */
import { isIPv4, isIPv6 } from 'node:net';

export type AddressKind =
  | 'public'
  | 'private'
  | 'loopback'
  | 'link-local'
  | 'metadata'
  | 'multicast'
  | 'reserved';

/** A network prefix; a single address is a prefix of all its bits. */
export interface Network {
  readonly bytes: Uint8Array;
  readonly bits: number;
}

/**
 * Null when it is not a literal. A zone (`fe80::1%eth0`) is dropped: it does not change the kind. IPv4-mapped, NAT64
 * (64:ff9b::/96) and 6to4 (2002::/16) addresses become the IPv4 address they lead to; an IPv6-only network resolves
 * everything to NAT64 addresses, so refusing those would refuse the internet.
 */
export function parseAddress(text: string): Uint8Array | null {
  if (isIPv4(text)) return Uint8Array.from(text.split('.').map(Number));
  if (!isIPv6(text)) return null;
  const bytes = parseIpv6(text.replace(/%.*$/, ''));
  if (isIn(bytes, mapped) || isIn(bytes, nat64)) return bytes.subarray(12);
  return isIn(bytes, sixToFour) ? bytes.subarray(2, 6) : bytes;
}

/** `address/bits`, or one address. Null when it is neither. */
export function parseNetwork(text: string): Network | null {
  const [address = '', length, ...more] = text.split('/');
  const bytes = parseAddress(address);
  if (bytes === null || more.length > 0) return null;
  if (length === undefined) return { bytes, bits: bytes.length * 8 };
  if (!/^\d{1,3}$/.test(length) || Number(length) > bytes.length * 8) return null;
  return { bytes, bits: Number(length) };
}

export function isIn(bytes: Uint8Array, network: Network): boolean {
  if (bytes.length !== network.bytes.length) return false;
  const whole = network.bits >> 3;
  for (let index = 0; index < whole; index++) if (bytes[index] !== network.bytes[index]) return false;
  const rest = network.bits & 7;
  const difference = (bytes[whole] ?? 0) ^ (network.bytes[whole] ?? 0);
  return rest === 0 || difference >> (8 - rest) === 0;
}

/** Documentation ranges (192.0.2.0/24 and so on) are public here: some closed networks map registries onto them. */
export function addressKind(bytes: Uint8Array): AddressKind {
  return table.find(([network]) => isIn(bytes, network))?.[1] ?? 'public';
}

function parseIpv6(text: string): Uint8Array {
  // A dotted tail is two groups.
  const dotted = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  const groups = dotted
    ? text.slice(0, dotted.index) +
      [0, 2].map((i) => (Number(dotted[i + 1]) * 256 + Number(dotted[i + 2])).toString(16)).join(':')
    : text;
  const [head = '', tail] = groups.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array<string>(8 - left.length - right.length).fill('0');
  const values = [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16));
  return Uint8Array.from(values.flatMap((value) => [value >> 8, value & 255]));
}

function network(text: string): Network {
  const [address = '', bits] = text.split('/');
  const bytes = isIPv4(address) ? Uint8Array.from(address.split('.').map(Number)) : parseIpv6(address);
  return { bytes, bits: bits === undefined ? bytes.length * 8 : Number(bits) };
}

const mapped = network('::ffff:0:0/96');
const nat64 = network('64:ff9b::/96');
const sixToFour = network('2002::/16');

/** The first match counts: metadata services live inside link-local, private and even public ranges. */
const table: readonly (readonly [Network, AddressKind])[] = (
  [
    // AWS, Google, Azure, DigitalOcean, Oracle, Hetzner; AWS containers; AWS over IPv6; Alibaba; Azure's host; Oracle's old one.
    ['169.254.169.254', 'metadata'],
    ['169.254.170.2', 'metadata'],
    ['fd00:ec2::/32', 'metadata'],
    ['100.100.100.200', 'metadata'],
    ['168.63.129.16', 'metadata'],
    ['192.0.0.192', 'metadata'],
    // "This network": Linux connects 0.0.0.0 and :: to loopback.
    ['0.0.0.0/8', 'loopback'],
    ['127.0.0.0/8', 'loopback'],
    ['::/127', 'loopback'],
    ['169.254.0.0/16', 'link-local'],
    ['fe80::/10', 'link-local'],
    ['10.0.0.0/8', 'private'],
    ['100.64.0.0/10', 'private'],
    ['172.16.0.0/12', 'private'],
    ['192.0.0.0/24', 'private'],
    ['192.168.0.0/16', 'private'],
    ['198.18.0.0/15', 'private'],
    ['fc00::/7', 'private'],
    // Site-local, replaced by fc00::/7 in 2004 and still routed in places.
    ['fec0::/10', 'private'],
    // Translation prefixes that only the local network can interpret.
    ['64:ff9b:1::/48', 'reserved'],
    ['2001::/32', 'reserved'],
    ['192.88.99.0/24', 'reserved'],
    ['::/96', 'reserved'],
    ['100::/64', 'reserved'],
    ['224.0.0.0/4', 'multicast'],
    ['ff00::/8', 'multicast'],
    ['240.0.0.0/4', 'reserved'],
  ] as const
).map(([text, kind]) => [network(text), kind]);
