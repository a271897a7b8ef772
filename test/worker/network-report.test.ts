/** What the log of a run says of its connections. */
import { describe, expect, it } from 'vitest';
import { createNetworkReport } from '../../src/worker/network-report.ts';
import { fc } from '../support/fast-check.ts';

function aReport() {
  const lines: string[] = [];
  const report = createNetworkReport();
  report.tellTo((line) => lines.push(line));
  return {
    ...{ report, lines },
    allow: (host: string, port = 443) =>
      report.onConnection({ host, port, decision: 'allowed', isAllowed: true }),
    refuse: (host: string, port = 443) =>
      report.onConnection({ host, port, decision: 'private address', isAllowed: false }),
    end: (host: string, sentBytes: number, receivedBytes: number, port = 443) =>
      report.onConnectionEnd({ host, port, sentBytes, receivedBytes, failure: null }),
  };
}

describe('what was reached', () => {
  it('is one line for each host and port, in the order of the first end', () => {
    const { report, lines, allow, end } = aReport();
    for (const host of ['b.example', 'a.example', 'b.example']) allow(host);
    allow('b.example', 80);
    end('b.example', 100, 2000);
    end('a.example', 0, 999);
    end('b.example', 4000, 1_198_000);
    end('b.example', 1, 0, 80);
    expect(lines).toEqual([]);
    report.summarize();

    expect(lines).toEqual([
      '[network: b.example:443, 2 connections, 4.1 kB out, 1.2 MB in]',
      '[network: a.example:443, 1 connection, 0 B out, 999 B in]',
      '[network: b.example:80, 1 connection, 1 B out, 0 B in]',
    ]);
  });

  it('is told once', () => {
    const { report, lines, allow, end } = aReport();
    allow('a.example');
    end('a.example', 1, 1);
    report.summarize();
    report.summarize();

    expect(lines).toHaveLength(1);
  });

  it('is told with the next command when the connection outlived its own', () => {
    const { report, lines, allow, end } = aReport();
    const next: string[] = [];
    allow('a.example');
    report.summarize();
    report.tellTo((line) => next.push(line));
    end('a.example', 5, 6);
    report.summarize();

    expect(lines).toEqual([]);
    expect(next).toEqual(['[network: a.example:443, 1 connection, 5 B out, 6 B in]']);
  });

  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.0 kB'],
    [999_949, '999.9 kB'],
    [999_950, '1.0 MB'],
    [1_500_000_000, '1.5 GB'],
    [2e15, '2000.0 TB'],
  ])('shows %i bytes as %s', (count, shown) => {
    const { report, lines, allow, end } = aReport();
    allow('a.example');
    end('a.example', count, 0);
    report.summarize();

    expect(lines).toEqual([`[network: a.example:443, 1 connection, ${shown} out, 0 B in]`]);
  });

  it('is a bounded number of lines that counts every connection and byte once', () => {
    const connection = fc.record({
      host: fc.integer({ min: 0, max: 80 }).map((n) => `host-${n}.example`),
      port: fc.constantFrom(80, 443, 8443),
      bytes: fc.integer({ min: 0, max: 9 }),
      /** A command ends before it. */
      isNext: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(connection, { maxLength: 400 }), (connections) => {
        const { report, lines, allow, end } = aReport();
        let perCommand = 0;
        let most = 0;
        const summarize = () => {
          const before = lines.length;
          report.summarize();
          perCommand = lines.length - before;
          most = Math.max(most, perCommand);
        };
        for (const { host, port } of connections) allow(host, port);
        for (const { host, port, bytes, isNext } of connections) {
          if (isNext) summarize();
          end(host, bytes, 2 * bytes, port);
        }
        summarize();

        const numbers = lines.map((line) =>
          /, (\d+) connections?, ([\d.]+) (k?B) out, ([\d.]+) (k?B) in\]$/.exec(line)?.slice(1),
        );
        const total = (index: number) =>
          numbers.reduce((sum, found) => sum + Number(found?.[index] ?? Number.NaN), 0);
        expect(total(0)).toBe(connections.length);
        // Sums of a thousand and more are rounded.
        if (lines.every((line) => !line.includes('kB'))) {
          expect(total(1)).toBe(connections.reduce((sum, { bytes }) => sum + bytes, 0));
          expect(total(3)).toBe(2 * total(1));
        }
        expect(most).toBeLessThanOrEqual(51);
      }),
    );
  });
});

describe('what was not reached', () => {
  it('is told at once, each target once for a command', () => {
    const { report, lines, allow, refuse } = aReport();
    refuse('10.0.0.1');
    refuse('10.0.0.1');
    refuse('10.0.0.1', 80);
    allow('closed.example');
    report.onConnectionEnd({
      ...{ host: 'closed.example', port: 443, sentBytes: 0, receivedBytes: 0, failure: 'ECONNREFUSED' },
    });
    const expected = [
      '[network: 10.0.0.1:443 was refused: private address]',
      '[network: 10.0.0.1:80 was refused: private address]',
      '[network: closed.example:443 was not reached: ECONNREFUSED]',
    ];
    expect(lines).toEqual(expected);
    report.summarize();
    expect(lines).toEqual(expected);

    report.tellTo((line) => lines.push(line));
    refuse('10.0.0.1');
    expect(lines).toEqual([...expected, expected[0]]);
  });

  it('is so many lines for a command, and one that says so', () => {
    const { lines, refuse } = aReport();
    for (let n = 0; n < 500; n += 1) refuse(`host-${n}.example`);

    expect(lines).toHaveLength(51);
    expect(lines.at(-1)).toBe('[network: further refusals are not shown]');
  });
});

describe('waiting for connections to end', () => {
  it('takes no longer than they do', async () => {
    const { report, allow, end } = aReport();
    await report.settled(60_000);
    allow('a.example');
    allow('b.example');
    let isSettled = false;
    const settled = report.settled(60_000).then(() => {
      isSettled = true;
    });
    end('a.example', 1, 1);
    await Promise.resolve();
    expect(isSettled).toBe(false);
    end('b.example', 1, 1);
    await settled;
  });

  it('is given up after a while', async () => {
    const { report, allow } = aReport();
    allow('a.example');
    await report.settled(1);
  });
});
