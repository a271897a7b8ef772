import { isIPv4, isIPv6 } from 'node:net';
import { describe, expect, it } from 'vitest';
import {
  behindNat64,
  contains,
  isMetadata,
  isPublic,
  parseAddress,
  parseRange,
} from '../../../src/webhooks/targets/addresses.ts';
import { fc } from '../../support/fast-check.ts';

function address(text: string) {
  const parsed = parseAddress(text);
  if (parsed === null) throw new Error(`not an address: ${text}`);
  return parsed;
}

describe('addresses', () => {
  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.0',
    '192.167.255.255',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450:4001:81b::200e',
    '2001:200::1',
    '2003::1',
    '::ffff:8.8.8.8',
  ])('takes %s for public', (text) => {
    expect(isPublic(address(text))).toBe(true);
  });

  it.each([
    '0.0.0.0',
    '0.255.255.255',
    '10.0.0.1',
    '100.64.0.1',
    '100.127.255.255',
    '127.0.0.1',
    '127.255.255.255',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.0.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:10.0.0.1',
    '::5efe:7f00:1',
    '64:ff9b::7f00:1',
    '64:ff9b::808:808',
    '100::1',
    '2001::1',
    '2001:1ff::1',
    '2001:db8::1',
    '2002:7f00:1::1',
    '3fff::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fec0::1',
    'ff02::1',
  ])('takes %s for not public', (text) => {
    expect(isPublic(address(text))).toBe(false);
  });

  it.each(['', '127.1', '0x7f.0.0.1', '127.0.0.01', 'fe80::1%eth0', '[::1]', '1.2.3.4/32', 'localhost'])(
    'reads no address in "%s"',
    (text) => {
      expect(parseAddress(text)).toBeNull();
    },
  );

  it.each([
    '169.254.169.254',
    '::ffff:169.254.169.254',
    '::169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    // The other places that RFC 6052 has for the IPv4 address: behind 32, 40, 48, 56 and 64 bits.
    '2001:db8:a9fe:a9fe::',
    '2001:db8:1a9:fea9:fe::',
    '2001:db8:122:a9fe:a9:fe00::',
    '2001:db8:122:3a9:fe:a9fe::',
    '2001:db8:122:344:a9:fea9:fe00::',
    '2001:0:4136:e378:8000:63bf:5601:5601',
    '2002:a9fe:a9fe::1',
    '::5efe:a9fe:a9fe',
    '169.254.170.2',
    '100.100.100.200',
    '168.63.129.16',
    'fd00:ec2::254',
  ])('knows %s for a metadata service', (text) => {
    expect(isMetadata(address(text))).toBe(true);
  });

  it('reads the IPv4 address behind the well-known prefix of NAT64, and behind no other', () => {
    fc.assert(
      fc.property(fc.ipV4(), (text) => {
        expect(behindNat64(address(`64:ff9b::${text}`))).toEqual(address(text));
        expect(behindNat64(address(`64:ff9b:1::${text}`))).toBeNull();
        expect(behindNat64(address(text))).toBeNull();
      }),
    );
  });

  it('has every IPv4 address in one reading, mapped or not', () => {
    fc.assert(
      fc.property(fc.ipV4(), (text) => {
        expect(isIPv4(text)).toBe(true);
        expect(parseAddress(`::ffff:${text}`)).toEqual(parseAddress(text));
      }),
    );
  });

  it('reads IPv6 as the URL parser does, however it is written', () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        fc.pre(isIPv6(text));
        const canonical = new URL(`http://[${text}]/`).hostname.slice(1, -1);
        expect(parseAddress(text)).toEqual(parseAddress(canonical));
      }),
    );
  });

  it('never takes an IPv6 address outside of 2000::/3 for public', () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const parsed = address(text);
        fc.pre(parsed.family === 6 && parsed.bits >> 125n !== 1n);
        expect(isPublic(parsed)).toBe(false);
      }),
    );
  });

  it.each([
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['192.168.1.7', '192.168.1.7', true],
    ['192.168.1.7', '192.168.1.8', false],
    ['fd00::/8', 'fd12::1', true],
    ['fd00::/8', 'fe80::1', false],
    ['0.0.0.0/0', '1.2.3.4', true],
    ['::/0', '1.2.3.4', false],
    ['127.0.0.1', '::ffff:127.0.0.1', true],
  ])('says whether %s contains %s', (range, text, expected) => {
    const parsed = parseRange(range);
    expect(parsed && contains(parsed, address(text))).toBe(expected);
  });

  it.each([
    '10.0.0.1/8',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    'fd00::/129',
    '::ffff:10.0.0.0/104',
    'x/8',
  ])('reads no range in "%s"', (text) => {
    expect(parseRange(text)).toBeNull();
  });
});
