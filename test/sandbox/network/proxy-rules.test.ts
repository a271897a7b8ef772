import { describe, expect, it } from 'vitest';
import { addressKind, parseAddress, parseNetwork } from '../../../src/sandbox/network/proxy-addresses.ts';
import {
  judgeAddresses,
  judgeName,
  parseAllowedHosts,
  type Rules,
} from '../../../src/sandbox/network/proxy-rules.ts';

const kindOf = (text: string) => {
  const bytes = parseAddress(text);
  return bytes === null ? null : addressKind(bytes);
};

const ownAddresses = ['10.9.9.9', 'fd00::9', '203.0.113.50'];

function judge(
  mode: Rules['mode'],
  allowed: readonly string[],
  host: string,
  port: number,
  ...addresses: string[]
) {
  const rules: Rules = { mode, allowedHosts: parseAllowedHosts(allowed) };
  return (
    judgeName(host, port, rules) ??
    judgeAddresses(host, port, addresses.length > 0 ? addresses : [host], ownAddresses, rules) ??
    'allowed'
  );
}

describe('the kind of an address', () => {
  it.each([
    ['8.8.8.8', 'public'],
    ['2606:4700::1111', 'public'],
    ['192.0.2.1', 'public'],
    ['198.51.100.7', 'public'],
    ['203.0.113.7', 'public'],
    ['2001:db8::1', 'public'],
    ['10.0.0.1', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['172.32.0.1', 'public'],
    ['192.168.1.1', 'private'],
    ['100.64.0.1', 'private'],
    ['100.127.255.255', 'private'],
    ['100.128.0.1', 'public'],
    ['198.18.0.1', 'private'],
    ['fd12::1', 'private'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['0.0.0.0', 'loopback'],
    ['::', 'loopback'],
    ['::1', 'loopback'],
    ['169.254.1.1', 'link-local'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['169.254.169.254', 'metadata'],
    ['169.254.170.2', 'metadata'],
    ['fd00:ec2::254', 'metadata'],
    ['100.100.100.200', 'metadata'],
    ['168.63.129.16', 'metadata'],
    ['224.0.0.1', 'multicast'],
    ['ff02::1', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'reserved'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:7f00:1', 'loopback'],
    ['::ffff:169.254.169.254', 'metadata'],
    ['::ffff:8.8.8.8', 'public'],
    ['64:ff9b::7f00:1', 'loopback'],
    ['64:ff9b::10.0.0.1', 'private'],
    ['64:ff9b::8.8.8.8', 'public'],
    ['64:ff9b:1::7f00:1', 'reserved'],
    ['2002:7f00:1::', 'loopback'],
    ['2002:a00:1::1', 'private'],
    ['2001:0:1::1', 'reserved'],
    ['::127.0.0.1', 'reserved'],
    ['no address', null],
  ])('of %s is %s', (text, kind) => {
    expect(kindOf(text)).toBe(kind);
  });

  it('is read from networks of any length', () => {
    expect(parseNetwork('10.0.0.0/33')).toBeNull();
    expect(parseNetwork('10.0.0.0/8/8')).toBeNull();
    expect(parseNetwork('fd00::/7')?.bits).toBe(7);
    expect(parseNetwork('10.0.0.1')?.bits).toBe(32);
  });
});

describe('a public network', () => {
  it.each([
    [[], 'registry.pkgs.example', 443, ['203.0.113.80'], 'allowed'],
    [[], 'registry.pkgs.example', 80, ['203.0.113.80'], 'allowed'],
    [[], 'registry.pkgs.example', 22, ['203.0.113.80'], 'port not allowed'],
    [['registry.pkgs.example:22'], 'registry.pkgs.example', 22, ['203.0.113.80'], 'allowed'],
    [['*.pkgs.example'], 'registry.pkgs.example', 22, ['203.0.113.80'], 'allowed'],
    [['*.pkgs.example'], 'pkgs.example', 22, ['203.0.113.80'], 'port not allowed'],
    [['203.0.113.0/24:22'], 'registry.pkgs.example', 22, ['203.0.113.80'], 'allowed'],
    [[], 'internal.example', 443, ['10.1.2.3'], 'private address'],
    [[], 'rebind.example', 443, ['203.0.113.80', '10.1.2.3'], 'mixed addresses'],
    [[], 'rebind.example', 443, ['203.0.113.80', '127.0.0.1'], 'mixed addresses'],
    [['internal.example'], 'internal.example', 443, ['10.1.2.3'], 'allowed'],
    [['internal.example:8080'], 'internal.example', 443, ['10.1.2.3'], 'private address'],
    [['internal.example:8080'], 'internal.example', 8080, ['10.1.2.3'], 'allowed'],
    [['10.1.0.0/16'], 'internal.example', 443, ['10.1.2.3'], 'allowed'],
    [['10.1.0.0/16'], '10.1.2.3', 9000, [], 'allowed'],
    [['10.1.0.0/16'], '10.2.2.3', 443, [], 'private address'],
    [['10.1.0.0/16:443'], '10.1.2.3', 80, [], 'private address'],
    [['[fd12::/16]:443'], 'fd12::5', 443, [], 'allowed'],
    [['fd12::/16'], 'fd12::5', 8443, [], 'allowed'],
    [['*.internal.example'], 'a.internal.example', 443, ['10.1.2.3'], 'private address'],
    [
      ['metadata.example', '0.0.0.0/0', '::/0'],
      'metadata.example',
      80,
      ['169.254.169.254'],
      'metadata address',
    ],
    [['localhost', '127.0.0.0/8', '127.0.0.1'], 'localhost', 80, ['127.0.0.1'], 'loopback address'],
    [['0.0.0.0/0'], '169.254.7.7', 80, [], 'link-local address'],
    [['::/0'], '::ffff:127.0.0.1', 80, [], 'loopback address'],
    [['::/0'], '64:ff9b::a9fe:a9fe', 80, [], 'metadata address'],
    [['224.0.0.1'], '224.0.0.1', 80, [], 'multicast address'],
    [[], '203.0.113.50', 443, [], 'own address of the server'],
    [[], '10.9.9.9', 443, [], 'own address of the server'],
    [['10.0.0.0/8'], '10.9.9.9', 443, [], 'own address of the server'],
    [['10.9.9.9:443'], '10.9.9.9', 443, [], 'allowed'],
    [['10.9.9.9:443'], '10.9.9.9', 3000, [], 'own address of the server'],
    [['me.example'], 'me.example', 443, ['10.9.9.9'], 'allowed'],
    [[], '::ffff:10.9.9.9', 443, [], 'own address of the server'],
  ] as const)('with %j listed answers %s:%i at %j: %s', (allowed, host, port, addresses, answer) => {
    expect(judge('public', allowed, host, port, ...addresses)).toBe(answer);
  });
});

describe('an allow-list', () => {
  it.each([
    [['github.com'], 'github.com', 443, ['203.0.113.80'], 'allowed'],
    [['github.com'], 'github.com', 22, ['203.0.113.80'], 'allowed'],
    [['github.com:443'], 'github.com', 22, ['203.0.113.80'], 'not on the allow-list'],
    [['github.com'], 'evil.example', 443, ['203.0.113.80'], 'not on the allow-list'],
    [['github.com'], 'notgithub.com', 443, ['203.0.113.80'], 'not on the allow-list'],
    [['*.github.com'], 'api.github.com', 443, ['203.0.113.80'], 'allowed'],
    [['*.github.com'], 'github.com', 443, ['203.0.113.80'], 'not on the allow-list'],
    [['*.github.com'], 'evilgithub.com', 443, ['203.0.113.80'], 'not on the allow-list'],
    [['*.amazonaws.com'], 'internal-lb.elb.amazonaws.com', 443, ['10.1.2.3'], 'private address'],
    [['*.amazonaws.com', '10.1.0.0/16'], 'internal-lb.elb.amazonaws.com', 443, ['10.1.2.3'], 'allowed'],
    // A name that only an address of the list could justify is not even looked up.
    [['10.1.0.0/16'], 'evil.example', 443, ['10.1.2.3'], 'not on the allow-list'],
    [['10.1.0.0/16'], '10.1.2.3', 443, [], 'allowed'],
    [[], '203.0.113.80', 443, [], 'not on the allow-list'],
    [['GitHub.com'], 'github.com', 443, ['203.0.113.80'], 'allowed'],
  ] as const)('of %j answers %s:%i at %j: %s', (allowed, host, port, addresses, answer) => {
    expect(judge('allowlist', allowed, host, port, ...addresses)).toBe(answer);
  });

  it.each([
    '',
    '*',
    '*.',
    'a b',
    'http://example.com',
    'example.com:0',
    'example.com:65536',
    '10.1',
    '0x7f000001',
    '*.1.2.3.4/8',
    'fd00::1]:3',
    '[example.com]:3',
    'a..b',
    '-a',
    'example.com/24',
  ])('refuses the entry %j', (entry) => {
    expect(() => parseAllowedHosts([entry])).toThrow(`${JSON.stringify(entry)} is not a host`);
  });
});
