import { isIP } from 'node:net';

/**
 * IP addresses as numbers, and which of them are on the public internet. Own lists, kept apart by family:
 * `net.BlockList` compares IPv4 in mapped form, so that a rule for ::/8 would match 8.8.8.8, and it answers
 * "not listed" to text it cannot read.
 */
export interface Address {
  readonly family: 4 | 6;
  readonly bits: bigint;
}

export interface AddressRange extends Address {
  readonly prefix: number;
}

const widthOf = (family: 4 | 6): number => (family === 4 ? 32 : 128);

/**
 * Null for anything but a full address: no names, no short forms, no zones. `::ffff:10.0.0.1` is 10.0.0.1,
 * because that is where a socket for it ends.
 */
export function parseAddress(text: string): Address | null {
  const family = isIP(text);
  if (family === 4) return { family: 4, bits: bitsOfV4(text) };
  if (family !== 6 || text.includes('%')) return null;
  const bits = bitsOfV6(text);
  return bits >> 32n === 0xffffn ? { family: 4, bits: bits & 0xffff_ffffn } : { family: 6, bits };
}

/** "10.0.0.0/8", "fd00::/8", or one address. Null when it is none, or has bits set behind the prefix. */
export function parseRange(text: string): AddressRange | null {
  const [address, length, ...rest] = text.split('/');
  const start = parseAddress(address ?? '');
  if (start === null || rest.length > 0) return null;
  const width = widthOf(start.family);
  if (length === undefined) return { ...start, prefix: width };
  if (!/^\d{1,3}$/.test(length) || Number(length) > width) return null;
  // The prefix of a mapped IPv4 range counts from the IPv6 address it no longer is.
  if (start.family === 4 && address?.includes(':')) return null;
  const range = { ...start, prefix: Number(length) };
  return (range.bits & ((1n << BigInt(width - range.prefix)) - 1n)) === 0n ? range : null;
}

export function contains(range: AddressRange, address: Address): boolean {
  if (range.family !== address.family) return false;
  const rest = BigInt(widthOf(range.family) - range.prefix);
  return range.bits >> rest === address.bits >> rest;
}

export function isPublic(address: Address): boolean {
  const inside = (range: AddressRange) => contains(range, address);
  if (address.family === 4) return !reservedV4.some(inside);
  return inside(globalV6) && !reservedV6.some(inside);
}

/** Of a network that its owner runs: what a host name may lead to when the operator lists the name. */
export function isPrivateNetwork(address: Address): boolean {
  return privateNetworks.some((range) => contains(range, address));
}

export function isLoopback(address: Address): boolean {
  return loopback.some((range) => contains(range, address));
}

/** The IPv4 address that a NAT64 gateway on the well-known prefix (RFC 6052) would connect to. Null for others. */
export function behindNat64(address: Address): Address | null {
  return contains(nat64, address) ? v4(address.bits) : null;
}

/** Where clouds hand credentials to whoever asks. Also found when wrapped in a transition address. */
export function isMetadata(address: Address): boolean {
  return [address, ...embeddedV4(address)].some((candidate) =>
    metadata.some((range) => contains(range, candidate)),
  );
}

/**
 * The IPv4 addresses that a gateway could read out of an IPv6 address: NAT64 with each length of prefix that
 * RFC 6052 §2.2 knows (bits 64 to 71 stay empty), 6to4, Teredo (inverted), ISATAP, "compatible".
 */
function embeddedV4({ family, bits }: Address): readonly Address[] {
  if (family === 4) return [];
  const withoutGap = ((bits >> 64n) << 56n) | (bits & ((1n << 56n) - 1n));
  return [
    v4(bits),
    v4(~bits & 0xffff_ffffn),
    v4(bits >> 80n),
    ...[32n, 40n, 48n, 56n, 64n].map((prefix) => v4(withoutGap >> (88n - prefix))),
  ];
}

const v4 = (bits: bigint): Address => ({ family: 4, bits: bits & 0xffff_ffffn });

function bitsOfV4(text: string): bigint {
  return text.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
}

function bitsOfV6(text: string): bigint {
  const [head = '', tail] = text.split('::');
  const left = groupsOf(head);
  const right = tail === undefined ? [] : groupsOf(tail);
  const gap = Array.from({ length: 8 - left.length - right.length }, () => 0n);
  return [...left, ...gap, ...right].reduce((bits, group) => (bits << 16n) | group, 0n);
}

function groupsOf(text: string): readonly bigint[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [BigInt(`0x${group}`)];
    const v4 = bitsOfV4(group);
    return [v4 >> 16n, v4 & 0xffffn];
  });
}

function range(text: string): AddressRange {
  const parsed = parseRange(text);
  if (parsed === null) throw new Error(`not an address range: ${text}`);
  return parsed;
}

/** IANA's special-purpose registry, multicast, class E, and Azure's host address, which is a public number. */
const reservedV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '168.63.129.16',
].map(range);

/** Only this block is allocated to the internet; everything outside it is special in one way or another. */
const globalV6 = range('2000::/3');
/** Teredo and other protocol blocks, documentation, 6to4. */
const reservedV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'].map(range);

const nat64 = range('64:ff9b::/96');

/** RFC 1918, carriers and overlay networks, laboratories, unique local addresses. */
const privateNetworks = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '198.18.0.0/15',
  'fc00::/7',
].map(range);

const loopback = ['127.0.0.0/8', '::1'].map(range);

/** AWS, Google, Azure, Oracle, Alibaba, Tencent, Scaleway, and the AWS container and pod endpoints. */
const metadata = [
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '169.254.0.23',
  '169.254.42.42',
  '168.63.129.16',
  '192.0.0.192',
  '100.100.100.200',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
  'fd00:42::42',
].map(range);
