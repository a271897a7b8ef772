import { describe, expect, it } from 'vitest';
import { parseAllowedTargets } from '../../../src/webhooks/targets/allowed-targets.ts';
import { createTargetGuard, type TargetGuard } from '../../../src/webhooks/targets/target-guard.ts';
import { goodEndpoints } from './good-endpoints.ts';
import { hostileEndpoints } from './hostile-endpoints.ts';

const answers: Readonly<Record<string, readonly string[]>> = {
  'example.com': ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
  'private.example': ['10.0.0.7'],
  'loopback.example': ['::1'],
  'mapped.example': ['::ffff:10.0.0.1'],
  'mixed.example': ['93.184.215.14', '10.0.0.7'],
  'metadata.example': ['169.254.169.254'],
  'empty.example': [],
  'strange.example': ['fe80::1%eth0'],
  'many.example': Array.from({ length: 1000 }, (_, index) => `93.184.${index % 256}.14`),
  'alias.example': ['93.184.215.14', '127.0.0.1'],
  '127.0.0.1.nip.example': ['127.0.0.1'],
  'nat64.example': ['64:ff9b::5db8:d70e'],
  'unspecified.example': ['0.0.0.0'],
  'link-local.example': ['169.254.1.1'],
  'multicast.example': ['224.0.0.251'],
  'v4-in-6to4.example': ['2002:a00:1::1'],
  'flood.example': [...Array.from({ length: 999 }, () => '93.184.215.14'), '192.168.0.1'],
  'metadata.google.internal': ['169.254.169.254'],
  'hooks.corp.example': ['10.0.0.7'],
  'foo.localhost': ['127.0.0.1'],
  receiver: ['172.18.0.3'],
  localhost: ['127.0.0.1', '::1'],
};

function guard(allowed: readonly string[] = []): TargetGuard {
  return createTargetGuard({
    allowed: parseAllowedTargets(allowed),
    resolve(hostname) {
      const addresses = answers[hostname];
      if (addresses) return Promise.resolve(addresses);
      return Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));
    },
  });
}

const refused = { code: 'endpoint-refused' };

describe('the tables of endpoints', () => {
  it('are long, and say nothing twice', () => {
    const hostile = Object.values(hostileEndpoints).flat();
    const good = goodEndpoints.map(([typed]) => typed);
    expect(hostile.length).toBeGreaterThanOrEqual(300);
    expect(good.length).toBeGreaterThanOrEqual(60);
    expect(new Set([...hostile, ...good]).size).toBe(hostile.length + good.length);
  });
});

describe('the target guard, when an endpoint is saved', () => {
  describe.each(Object.entries(hostileEndpoints))('%s', (_group, urls) => {
    it.each(urls)('refuses %j', async (url) => {
      await expect(guard().accept(url)).rejects.toMatchObject(refused);
    });
  });

  it.each(goodEndpoints)('accepts %s as %s', async (typed, url) => {
    await expect(guard().accept(typed)).resolves.toMatchObject({ url });
  });

  it.each([
    ['127.0.0.1', 'http://127.0.0.1:6379/'],
    ['127.0.0.1:9000', 'http://127.0.0.1:9000/'],
    ['10.0.0.0/8', 'http://private.example/'],
    ['hooks.corp.example', 'http://hooks.corp.example:22/'],
    ['*.corp.example', 'https://hooks.corp.example/'],
    ['172.16.0.0/12', 'http://receiver:8080/'],
    ['receiver', 'http://receiver:8080/'],
    ['localhost', 'http://localhost:8080/'],
    ['*.localhost', 'http://foo.localhost:8080/'],
    ['10.0.0.7', 'http://mixed.example/'],
    ['169.254.169.254', 'http://169.254.169.254/'],
    ['64:ff9b::/96', 'https://nat64.example/'],
    ['64:ff9b::/96,10.0.0.7', 'https://[64:ff9b::10.0.0.7]/'],
    ['fd12::/16', 'http://[fd12::1]:8080/'],
  ])('with %s allowed, accepts %s', async (allowed, url) => {
    await expect(guard(allowed.split(',')).accept(url)).resolves.toBeDefined();
  });

  it.each([
    ['127.0.0.1:9000', 'http://127.0.0.1:9001/'],
    ['127.0.0.1', 'http://localhost:8080/'],
    ['10.0.0.7', 'http://10.0.0.8/'],
    ['169.254.0.0/16', 'http://169.254.169.254/'],
    ['metadata.google.internal', 'http://metadata.google.internal/'],
    ['0.0.0.0/0', 'http://metadata.example/'],
    ['64:ff9b::/96', 'http://[64:ff9b::a9fe:a9fe]/'],
    ['64:ff9b:1::/48', 'http://[64:ff9b:1:a9fe:a9:fe00::]/'],
    ['64:ff9b::/96', 'http://[64:ff9b::10.0.0.7]/'],
    ['64:ff9b::/96', 'http://[64:ff9b::7f00:1]/'],
    ['64:ff9b::/96', 'http://[64:ff9b::808:808]:22/'],
    ['2001::/32', 'http://[2001:0:4136:e378:8000:63bf:5601:5601]/'],
    ['hooks.corp.example:8443', 'http://hooks.corp.example:8444/'],
    ['private.example', 'http://alias.example/'],
    ['*.private.example', 'http://private.example/'],
    ['localhost', 'http://foo.localhost/'],
    // Whoever answers for a name must not be able to lead it to this machine.
    ['loopback.example', 'http://loopback.example/'],
    ['*.example', 'http://127.0.0.1.nip.example/'],
    ['*.example', 'http://unspecified.example/'],
    ['*.example', 'http://link-local.example/'],
    ['*.example', 'http://multicast.example/'],
    ['*.example', 'http://v4-in-6to4.example/'],
    ['*.example', 'http://nat64.example/'],
    ['*.example', 'http://metadata.example/'],
    ['*.example', 'http://strange.example/'],
    ['*.example', 'http://private.example:0/'],
  ])('with %s allowed, still refuses %s', async (allowed, url) => {
    await expect(guard([allowed]).accept(url)).rejects.toMatchObject(refused);
  });

  it('says why, and which setting an operator needs', async () => {
    await expect(guard().accept('http://10.0.0.1/')).rejects.toMatchObject({
      message: 'The endpoint cannot be used: the host is not on the public internet.',
      hint: expect.stringContaining('WEBHOOK_ALLOWED_TARGETS'),
      issues: [{ path: 'endpoint', message: 'the host is not on the public internet' }],
    });
  });
});

describe('the target guard, before a connection', () => {
  it('gives the addresses of a good name', async () => {
    await expect(guard().resolve('example.com', 443)).resolves.toEqual(answers['example.com']);
  });

  it.each(['private.example', 'loopback.example', 'mapped.example', 'mixed.example', 'metadata.example'])(
    'blocks %s, although another answer may be fine',
    async (hostname) => {
      await expect(guard().resolve(hostname, 443)).rejects.toMatchObject({ name: 'TargetBlocked' });
    },
  );

  it.each([
    ['unknown.example', 'ENOTFOUND'],
    ['empty.example', 'ENODATA'],
  ])('has no address for %s: %s', async (hostname, code) => {
    await expect(guard().resolve(hostname, 443)).rejects.toMatchObject({ code });
  });

  it('asks anew each time, because answers change', async () => {
    const changing = [['93.184.215.14'], ['127.0.0.1']];
    const rebinding = createTargetGuard({
      allowed: parseAllowedTargets([]),
      resolve: () => Promise.resolve(changing.shift() ?? []),
    });
    await expect(rebinding.accept('http://rebind.example/')).resolves.toBeDefined();
    await expect(rebinding.resolve('rebind.example', 80)).rejects.toMatchObject({ name: 'TargetBlocked' });
  });

  it('judges the address that was reached', () => {
    expect(guard().allows('example.com', 443, '93.184.215.14')).toBe(true);
    expect(guard().allows('example.com', 443, '::ffff:10.0.0.1')).toBe(false);
    expect(guard().allows('example.com', 443, '')).toBe(false);
  });
});
