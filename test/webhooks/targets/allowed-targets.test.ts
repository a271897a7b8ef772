import { describe, expect, it } from 'vitest';
import { parseAddress } from '../../../src/webhooks/targets/addresses.ts';
import { parseAllowedTargets } from '../../../src/webhooks/targets/allowed-targets.ts';

function allowsAddress(entry: string, text: string, port: number): boolean {
  const address = parseAddress(text);
  if (address === null) throw new Error(`not an address: ${text}`);
  return parseAllowedTargets([entry]).allowsAddress(address, port);
}

describe('WEBHOOK_ALLOWED_TARGETS', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1', 1],
    ['127.0.0.1', '127.0.0.1', 65_535],
    ['127.0.0.1:8080', '127.0.0.1', 8080],
    ['10.0.0.0/8', '10.1.2.3', 22],
    ['10.0.0.0/8:8443', '10.1.2.3', 8443],
    ['::1', '::1', 80],
    ['[::1]', '::1', 80],
    ['[::1]:8080', '::1', 8080],
    ['fd00::/8', 'fd00::7', 443],
    ['[fd00::/8]:443', 'fd00::7', 443],
  ])('%s allows %s on port %i', (entry, address, port) => {
    expect(allowsAddress(entry, address, port)).toBe(true);
  });

  it.each([
    ['127.0.0.1', '127.0.0.2', 80],
    ['127.0.0.1:8080', '127.0.0.1', 8081],
    ['10.0.0.0/8:8443', '10.1.2.3', 443],
    ['[::1]:8080', '::1', 80],
    ['hooks.corp', '10.0.0.1', 80],
  ])('%s does not allow %s on port %i', (entry, address, port) => {
    expect(allowsAddress(entry, address, port)).toBe(false);
  });

  it.each([
    ['hooks.corp.example', 'hooks.corp.example', 80, true],
    ['Hooks.Corp.Example.', 'hooks.corp.example', 80, true],
    ['hooks.corp.example:8443', 'hooks.corp.example', 8443, true],
    ['hooks.corp.example:8443', 'hooks.corp.example', 443, false],
    ['hooks.corp.example', 'x.hooks.corp.example', 80, false],
    ['*.corp.example', 'a.b.corp.example', 80, true],
    ['*.corp.example', 'corp.example', 80, false],
    ['*.corp.example', 'evilcorp.example', 80, false],
    ['*.corp.example:81', 'a.corp.example', 80, false],
    ['bücher.example', 'xn--bcher-kva.example', 80, true],
    ['receiver', 'receiver', 80, true],
  ])('%s and the name %s on port %i: %s', (entry, hostname, port, expected) => {
    expect(parseAllowedTargets([entry]).allowsName(hostname, port)).toBe(expected);
  });

  it('knows an exact address from a range', () => {
    const address = parseAddress('169.254.169.254');
    if (address === null) throw new Error('not an address');
    expect(parseAllowedTargets(['169.254.0.0/16']).allowsExactly(address, 80)).toBe(false);
    expect(parseAllowedTargets(['169.254.169.254']).allowsExactly(address, 80)).toBe(true);
    expect(parseAllowedTargets(['169.254.169.254:81']).allowsExactly(address, 80)).toBe(false);
  });

  it.each([
    '*',
    '*.',
    '',
    'http://hooks.corp',
    'hooks.corp/path',
    'user@hooks.corp',
    '127.1',
    '0x7f000001',
    '127.0.0.1:0',
    '127.0.0.1:65536',
    '127.0.0.1:http',
    '10.0.0.1/8',
    '10.0.0.0/33',
    '[10.0.0.1]',
    '[fe80::1%eth0]',
    '::1:99999x',
    'a b',
    '*.*.corp',
    'hooks..corp',
  ])('refuses "%s" by name of the setting', (entry) => {
    expect(() => parseAllowedTargets([entry])).toThrow(/^WEBHOOK_ALLOWED_TARGETS/);
  });
});
