import { describe, expect, it } from 'vitest';
import { parseAllowedTargets } from '../../../src/webhooks/targets/allowed-targets.ts';
import { createTargetGuard, type TargetGuard } from '../../../src/webhooks/targets/target-guard.ts';
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
  'metadata.google.internal': ['169.254.169.254'],
  'hooks.corp.example': ['10.0.0.7'],
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

describe('the target guard, when an endpoint is saved', () => {
  describe.each(Object.entries(hostileEndpoints))('%s', (_group, urls) => {
    it.each(urls)('refuses %j', async (url) => {
      await expect(guard().accept(url)).rejects.toMatchObject(refused);
    });
  });

  it.each([
    ['https://example.com/hook', 'https://example.com/hook'],
    ['https://Example.COM:443/Hook?A=b', 'https://example.com/Hook?A=b'],
    ['HTTP://example.com:80', 'http://example.com/'],
    ['https://example.com./x', 'https://example.com/x'],
    ['https://example.com/x#part', 'https://example.com/x'],
    ['https://example.com:8443/%7Ex', 'https://example.com:8443/%7Ex'],
    ['http://exa\u00admple.com/', 'http://example.com/'],
    ['https://8.8.8.8/', 'https://8.8.8.8/'],
    ['https://[2606:4700:4700::1111]/', 'https://[2606:4700:4700::1111]/'],
    ['https://bücher.example/ü', 'https://xn--bcher-kva.example/%C3%BC'],
    ['https://not-yet-there.example/', 'https://not-yet-there.example/'],
    ['https://empty.example/', 'https://empty.example/'],
    ['https://many.example/', 'https://many.example/'],
    ['https://my_host.example.com/', 'https://my_host.example.com/'],
  ])('accepts %s as %s', async (typed, url) => {
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
    ['169.254.169.254', 'http://169.254.169.254/'],
  ])('with %s allowed, accepts %s', async (allowed, url) => {
    await expect(guard([allowed]).accept(url)).resolves.toBeDefined();
  });

  it.each([
    ['127.0.0.1:9000', 'http://127.0.0.1:9001/'],
    ['127.0.0.1', 'http://localhost:8080/'],
    ['10.0.0.7', 'http://10.0.0.8/'],
    ['169.254.0.0/16', 'http://169.254.169.254/'],
    ['metadata.google.internal', 'http://metadata.google.internal/'],
    ['0.0.0.0/0', 'http://metadata.example/'],
    ['64:ff9b::/96', 'http://[64:ff9b::a9fe:a9fe]/'],
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
