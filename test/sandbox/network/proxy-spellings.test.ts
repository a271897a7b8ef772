/** However it is written, a forbidden address is not dialled: asked of a whole proxy, in both of its forms. */
import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startProxy } from '../../../src/sandbox/network/proxy.ts';
import type { ConnectionDecision, OpenAccess } from '../../../src/sandbox/sandbox.ts';
import { fc } from '../../support/fast-check.ts';
import { temporaryDirectory } from '../harness.ts';

const root = temporaryDirectory();
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** By network, closed to everybody whatever is listed. */
const closedNetworks = [
  [127, 0, 0, 0, 8],
  [0, 0, 0, 0, 8],
  [169, 254, 0, 0, 16],
  [224, 0, 0, 0, 4],
  [240, 0, 0, 0, 4],
  [100, 100, 100, 200, 32],
  [168, 63, 129, 16, 32],
] as const;
/** Closed unless they are listed. */
const privateNetworks = [
  [10, 0, 0, 0, 8],
  [172, 16, 0, 0, 12],
  [192, 168, 0, 0, 16],
  [100, 64, 0, 0, 10],
] as const;

const addressIn = (networks: readonly (readonly [number, number, number, number, number])[]) =>
  fc.tuple(fc.constantFrom(...networks), fc.nat(0xff_ff_ff_ff)).map(([[a, b, c, d, bits], rest]) => {
    const size = 2 ** (32 - bits);
    const start = ((a * 256 + b) * 256 + c) * 256 + d;
    const address = start + (rest % size);
    return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256);
  });

const hex = (value: number) => value.toString(16);
const bigEndian = (bytes: readonly number[]) => bytes.reduce((sum, byte) => sum * 256 + byte, 0);
const groups = (bytes: readonly number[]) =>
  [0, 2].map((at) => hex((bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0))).join(':');

/** What C libraries read as IPv4: one to four numbers, each decimal, hexadecimal or octal, the last for all that is left. */
const numbers = (bytes: readonly number[], count: number, base: readonly number[]) => {
  const head = bytes.slice(0, count - 1);
  return [...head, bigEndian(bytes.slice(count - 1))]
    .map((value, index) => {
      const of = base[index % base.length];
      return of === 16 ? `0x${hex(value)}` : of === 8 ? `0${value.toString(8)}` : String(value);
    })
    .join('.');
};

const spelling = fc.oneof(
  fc
    .record({
      count: fc.integer({ min: 1, max: 4 }),
      base: fc.array(fc.constantFrom(8, 10, 16), { minLength: 1, maxLength: 4 }),
      isUpper: fc.boolean(),
    })
    .map(({ count, base, isUpper }) => (bytes: readonly number[]) => {
      const text = numbers(bytes, count, base);
      return isUpper ? text.toUpperCase() : text;
    }),
  fc.constantFrom<(bytes: readonly number[]) => string>(
    (bytes) => `[::ffff:${bytes.join('.')}]`,
    (bytes) => `[::ffff:${groups(bytes)}]`,
    (bytes) => `[0:0:0:0:0:FFFF:${groups(bytes).toUpperCase()}]`,
    (bytes) => `[64:ff9b::${groups(bytes)}]`,
    (bytes) => `[64:ff9b::${bytes.join('.')}]`,
    (bytes) => `[64:ff9b:1::${groups(bytes)}]`,
    (bytes) => `[2002:${groups(bytes)}::1]`,
    (bytes) => `[::${bytes.join('.')}]`,
    (bytes) => `[::ffff:${bytes.join('.')}%eth0]`,
    (bytes) => `[::ffff:${bytes.join('.')}%1]`,
  ),
);
const names = [
  'localhost',
  'LOCALHOST',
  'localhost.',
  'localhost..',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::]',
  '[fe80::1]',
  '[fe80::1%1]',
  '[fd00:ec2::254]',
  '[ff02::1]',
  'public.example@127.0.0.1',
  'public.example:80@127.0.0.1',
  '127.0.0.1%00.public.example',
  `${'a'.repeat(300)}.example`,
  `${'a.'.repeat(4000)}example`,
];
/** Closed unless they are listed. */
const privateNames = ['[fec0::1]', '[fd12::5]'];
const dots = fc.constantFrom('', '.', '..');

/** The status, after the whole answer; 0 when it was hung up on. */
function ask(socketPath: string, text: string): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect({ path: socketPath });
    let answer = '';
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString('latin1');
      if (answer.includes('\r\n\r\n')) socket.end();
    });
    socket.on('error', () => undefined);
    socket.once('close', () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0)));
    socket.write(text);
  });
}

const everything: OpenAccess = {
  mode: 'public',
  allowedHosts: ['0.0.0.0/0', '::/0', 'localhost', '127.0.0.1', '169.254.169.254', '::1'],
};

describe.each([
  [
    'with nothing listed',
    { mode: 'public', allowedHosts: [] } as OpenAccess,
    [...closedNetworks, ...privateNetworks],
    [...names, ...privateNames],
  ],
  ['with everything listed that can be', everything, closedNetworks, names],
])('no spelling of a forbidden address, %s,', (_, access, networks, words) => {
  it.each([false, true])('is dialled (through an upstream proxy: %s)', async (hasUpstream) => {
    const decisions: ConnectionDecision[] = [];
    await using proxy = await startProxy({
      ...{ access, directory: join(root, 'sandbox') },
      onConnection: (decision) => decisions.push(decision),
      // Nobody is there: what gets that far fails the test by having been allowed.
      upstream: hasUpstream ? { host: '127.0.0.1', port: 1, credentials: null } : null,
    });
    const spelled = fc
      .tuple(addressIn(networks), spelling, dots)
      .map(([bytes, spell, end]) => `${spell(bytes)}${end}`);
    const target = fc.oneof({ weight: 5, arbitrary: spelled }, fc.constantFrom(...words));
    await fc.assert(
      fc.asyncProperty(target, fc.boolean(), async (host, isTunnel) => {
        const status = await ask(
          proxy.socket,
          isTunnel
            ? `CONNECT ${host}:80 HTTP/1.1\r\nhost: ${host}\r\n\r\n`
            : `GET http://${host}:80/ HTTP/1.1\r\nhost: public.example\r\nconnection: close\r\n\r\n`,
        );

        expect([400, 403, 431, 502]).toContain(status);
        expect(decisions.filter(({ isAllowed }) => isAllowed)).toEqual([]);
      }),
      { numRuns: 150 },
    );
    expect(decisions.length).toBeGreaterThan(50);
  });
});
