import { describe, expect, it } from 'vitest';
import { isMetadata, isPublic, parseAddress } from '../../../src/webhooks/targets/addresses.ts';
import { parseAllowedTargets } from '../../../src/webhooks/targets/allowed-targets.ts';
import { createTargetGuard } from '../../../src/webhooks/targets/target-guard.ts';
import { fc } from '../../support/fast-check.ts';

const metadata = ['169.254.169.254', 'fd00:ec2::254', '64:ff9b::a9fe:a9fe', '::ffff:169.254.169.254'];
const address = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.ipV4().map((text) => `64:ff9b::${text}`),
  fc.constantFrom(...['10.0.0.7', '127.0.0.1', '::1', '0.0.0.0', '169.254.1.1', '8.8.8.8'], ...metadata),
);
const hostname = fc.constantFrom(
  'a.example',
  'b.a.example',
  'localhost',
  'x.localhost',
  'receiver',
  'nas.lan',
);
const port = fc.constantFrom(0, 22, 80, 443, 6379, 8080, 65_535);
const target = fc.record({ hostname, port, addresses: fc.array(address, { minLength: 1, maxLength: 4 }) });

/** Wide and narrow, with and without a port. */
const entry = fc
  .tuple(
    fc.constantFrom(
      ...['a.example', '*.a.example', '*.example', 'localhost', '*.localhost', 'receiver', '*.lan'],
      ...[
        '0.0.0.0/0',
        '10.0.0.0/8',
        '127.0.0.1',
        '169.254.0.0/16',
        '[::/0]',
        '[64:ff9b::/96]',
        '[::1]',
        '[fd00::/8]',
      ],
    ),
    fc.constantFrom('', ':80', ':8080'),
  )
  .map(([what, suffix]) => what + suffix);
const entries = fc.array(entry, { maxLength: 6 });

type Target = typeof target extends fc.Arbitrary<infer T> ? T : never;

async function isAllowed(list: readonly string[], one: Target): Promise<boolean> {
  const resolve = () => Promise.resolve(one.addresses);
  const guard = createTargetGuard({ allowed: parseAllowedTargets(list), resolve });
  try {
    expect(await guard.resolve(one.hostname, one.port)).toEqual(one.addresses);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ name: 'TargetBlocked' });
    return false;
  }
}

function parsed(text: string) {
  const found = parseAddress(text);
  if (found === null) throw new Error(`not an address: ${text}`);
  return found;
}

describe('the target guard, whatever is allowed', () => {
  it('lets nobody to a metadata service who does not list it by itself', async () => {
    await fc.assert(
      fc.asyncProperty(entries, target, async (list, one) => {
        fc.pre(one.addresses.some((text) => isMetadata(parsed(text))));
        expect(await isAllowed(list, one)).toBe(false);
      }),
    );
  });

  it('refuses no more when more is allowed', async () => {
    await fc.assert(
      fc.asyncProperty(entries, entry, target, async (list, more, one) => {
        if (await isAllowed(list, one)) expect(await isAllowed([...list, more], one)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('allows a name exactly when each of its addresses alone would be', async () => {
    await fc.assert(
      fc.asyncProperty(entries, target, async (list, one) => {
        const each = await Promise.all(
          one.addresses.map((text) => isAllowed(list, { ...one, addresses: [text] })),
        );
        expect(await isAllowed(list, one)).toBe(each.every(Boolean));
      }),
    );
  });

  it('says the same before a connection and after it', async () => {
    await fc.assert(
      fc.asyncProperty(entries, target, address, async (list, one, reached) => {
        const guard = createTargetGuard({ allowed: parseAllowedTargets(list) });
        expect(guard.allows(one.hostname, one.port, reached)).toBe(
          await isAllowed(list, { ...one, addresses: [reached] }),
        );
      }),
    );
  });

  it('knows only the public internet when nothing is', async () => {
    await fc.assert(
      fc.asyncProperty(target, async (one) => {
        if (!(await isAllowed([], one))) return;
        expect(one.addresses.every((text) => isPublic(parsed(text)))).toBe(true);
        expect([80, 443, 8080, 65_535]).toContain(one.port);
        expect(one.hostname).toMatch(/a\.example$/);
      }),
    );
  });
});
