import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type Address,
  type AddressRange,
  contains,
  isPublic,
  parseAddress,
  parseRange,
} from '../../../src/webhooks/targets/addresses.ts';
import { fc } from '../../support/fast-check.ts';

/** What Python says of a text: null when it is no address. */
type Opinion = readonly [version: 4 | 6, bits: string, isGlobal: boolean] | null;

function askPython(texts: readonly string[]): readonly Opinion[] {
  const script = join(import.meta.dirname, 'address-oracle.py');
  const input = texts.map((text) => `${JSON.stringify(text)}\n`).join('');
  const { stdout, stderr, status } = spawnSync('python3', [script], {
    input,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  if (status !== 0) throw new Error(`python3: ${stderr}`);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Opinion);
}

function range(text: string): AddressRange {
  const parsed = parseRange(text);
  if (parsed === null) throw new Error(`not a range: ${text}`);
  return parsed;
}

/**
 * What Python takes for global and we refuse, on purpose. The other way round nothing may differ. Versions of
 * Python differ on some of these themselves, so an entry says "may", not "must".
 */
const stricter: readonly (readonly [range: string, reason: string])[] = [
  [
    '192.0.0.0/24',
    'protocol assignments: Python before 3.13 knows parts of it; Oracle has its metadata there',
  ],
  ['192.88.99.0/24', '6to4 relays, deprecated: a relay would carry the request on'],
  ['168.63.129.16', 'a public number that means the host on Azure'],
  ['224.0.0.0/4', 'multicast: nobody who answers'],
  ['64:ff9b::/96', 'NAT64: leads to the IPv4 address inside'],
  ['::/3', 'nothing outside of 2000::/3 is allocated to the internet: compatible, translated and discarded'],
  ['4000::/2', 'the same: unallocated, segment routing'],
  ['8000::/1', 'the same: unallocated, site-local, multicast'],
  ['2001::/23', 'Teredo, ORCHID, anycast of protocols: Python lets some through'],
  ['2002::/16', '6to4: leads to the IPv4 address inside'],
  ['3fff::/20', 'documentation since RFC 9637, too new for some versions of Python'],
];

/** Ranges whose borders are worth a look: ours, Python's, IANA's. */
const interesting = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...[
    '192.0.0.0/24',
    '192.0.0.0/29',
    '192.0.0.8',
    '192.0.0.9',
    '192.0.0.10',
    '192.0.0.170/31',
    '192.0.0.192',
  ],
  ...['192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16'],
  ...['192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  ...['255.255.255.255', '168.63.129.16', '0.0.0.0/0'],
  ...[
    '::',
    '::1',
    '::/96',
    '::ffff:0:0:0/96',
    '64:ff9b::/96',
    '64:ff9b:1::/48',
    '100::/64',
    '100:0:0:1::/64',
  ],
  ...[
    '2000::/3',
    '2001::/23',
    '2001::/32',
    '2001:1::1',
    '2001:1::2',
    '2001:1::3',
    '2001:2::/48',
    '2001:3::/32',
  ],
  ...['2001:4:112::/48', '2001:10::/28', '2001:20::/28', '2001:30::/28', '2001:db8::/32', '2002::/16'],
  ...['2620:4f:8000::/48', '3fff::/20', '4000::/2', '5f00::/16', '8000::/1', 'fc00::/7', 'fe80::/10'],
  ...['fec0::/10', 'ff00::/8', '::/0'],
].map(range);

const widthOf = ({ family }: Address): bigint => (family === 4 ? 32n : 128n);

function textOf({ family, bits }: Address): string {
  const [parts, size, base] = family === 4 ? [4, 8n, 10] : ([8, 16n, 16] as const);
  return Array.from({ length: parts }, (_, index) =>
    ((bits >> (size * BigInt(parts - 1 - index))) & ((1n << size) - 1n)).toString(base),
  ).join(family === 4 ? '.' : ':');
}

/** First, last, and the neighbours outside. */
function bordersOf(around: AddressRange): readonly Address[] {
  const { family, bits, prefix } = around;
  const width = widthOf(around);
  const last = bits | ((1n << (width - BigInt(prefix))) - 1n);
  return [bits - 1n, bits, bits + 1n, last - 1n, last, last + 1n]
    .filter((value) => value >= 0n && value < 1n << width)
    .map((value) => ({ family, bits: value }));
}

/** Anywhere, but most of them inside or near the ranges where mistakes would be. */
const someAddress: fc.Arbitrary<Address> = fc
  .tuple(fc.constantFrom(...interesting), fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }), fc.boolean())
  .map(([around, random, isNear]) => {
    const width = widthOf(around);
    const rest = isNear ? width - BigInt(around.prefix) : width;
    const bits = isNear ? around.bits | (random & ((1n << rest) - 1n)) : random & ((1n << width) - 1n);
    return { family: around.family, bits };
  });

/** What addresses are made of, in any order, and addresses with a character too many, too few or changed. */
const someText: fc.Arbitrary<string> = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.ipV4Extended(),
  fc.ipV4().map((text) => `::ffff:${text}`),
  fc.ipV6().map((text) => text.toUpperCase()),
  fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF:::...%x[]/ -+_\n٣'), maxLength: 42 }),
  fc
    .tuple(
      fc.oneof(fc.ipV4(), fc.ipV6()),
      fc.nat(),
      fc.constantFrom('', '0', ':', '.', '::', '%', 'g', ' '),
      fc.nat(2),
    )
    .map(([text, at, piece, cut]) => {
      const index = at % (text.length + 1);
      return text.slice(0, index) + piece + text.slice(index + cut);
    }),
);

describe('addresses, asked of Python too', () => {
  it('are public only where Python agrees, and refused beyond it only for a named reason', () => {
    const addresses = [...interesting.flatMap(bordersOf), ...fc.sample(someAddress, 20_000)];
    const opinions = askPython(addresses.map(textOf));

    const excuses = stricter.map(([text]) => range(text));
    const seen = { public: 0, refused: 0, stricter: 0 };
    const wrong = addresses.filter((address, index) => {
      const ours = parseAddress(textOf(address));
      const theirs = opinions[index];
      if (!ours || !theirs || BigInt(theirs[1]) !== ours.bits || theirs[0] !== ours.family) return true;
      if (isPublic(ours) === theirs[2]) {
        seen[theirs[2] ? 'public' : 'refused'] += 1;
        return false;
      }
      seen.stricter += 1;
      return isPublic(ours) || !excuses.some((excuse) => contains(excuse, ours));
    });

    expect(wrong.map(textOf)).toEqual([]);
    // Each of the three really came up.
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(1000);
  });

  it('are refused everywhere that the table says', () => {
    const samples = stricter.map(([text]) =>
      bordersOf(range(text)).filter((one) => contains(range(text), one)),
    );

    expect(samples.flat().filter(isPublic).map(textOf)).toEqual([]);
  });

  it('are read from the same texts, and to the same number', () => {
    const texts = fc.sample(someText, 20_000);
    const opinions = askPython(texts);

    const seen = { read: 0, refused: 0 };
    const wrong = texts.filter((text, index) => {
      const ours = parseAddress(text);
      // Python takes zones, we do not: an endpoint cannot have one, and a socket's peer with one is link-local.
      const theirs = text.includes('%') ? null : (opinions[index] ?? null);
      seen[ours ? 'read' : 'refused'] += 1;
      if (!ours || !theirs) return ours !== theirs;
      return ours.family !== theirs[0] || ours.bits !== BigInt(theirs[1]);
    });

    expect(wrong).toEqual([]);
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(3000);
  });
});
