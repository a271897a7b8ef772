/** The network of a half: what it may reach, and what its logs are told. */
import { describe, expect, it } from 'vitest';
import type { NetworkAccess, NetworkOptions, OpenAccess } from '../../src/sandbox/sandbox.ts';
import { accessOf, createRunNetwork, networkPolicy } from '../../src/worker/run-network.ts';
import { aRun } from '../support/builders.ts';

const allowedHosts = ['registry.example'];

/** A sandbox whose proxy is the test; the end of a connection that is open at its closing is told then. */
function aNetwork(access: NetworkAccess, announces = false) {
  const opened: { access: OpenAccess; options: NetworkOptions }[] = [];
  let atClosing = (): void => undefined;
  const network = createRunNetwork({
    ...{ access, announces, identity: { key: 'run-1' } },
    sandbox: {
      async openNetwork(given, options) {
        opened.push({ access: given, options });
        return { kind: 'network', [Symbol.asyncDispose]: async () => atClosing() };
      },
    },
  });
  const connection = { host: 'registry.example', port: 443 };
  return {
    ...{ network, opened },
    connect: () => opened[0]?.options.onConnection?.({ ...connection, decision: 'allowed', isAllowed: true }),
    end: () =>
      opened[0]?.options.onConnectionEnd?.({ ...connection, sentBytes: 1, receivedBytes: 2, failure: null }),
    atClosing(does: () => void) {
      atClosing = does;
    },
  };
}

function aLog() {
  const lines: string[] = [];
  let flushed = 0;
  return {
    lines,
    line: (text: string) => void lines.push(text),
    async flush() {
      flushed = lines.length;
    },
    flushedLines: () => flushed,
  };
}

const summary = '[network: registry.example:443, 1 connection, 1 B out, 2 B in]';

describe('what a run may reach', () => {
  const policyOf = (network: 'public' | 'allowlist' | 'none', untrustedHosts: readonly string[] = []) =>
    networkPolicy({ network, allowedHosts, untrustedHosts });
  const fork = aRun({ isUntrusted: true });

  it.each(['public', 'allowlist'] as const)('follows SANDBOX_NETWORK=%s when it is trusted', (mode) => {
    for (const type of ['PROPOSED', 'TRACKED', 'TASK', 'DESTROY'] as const) {
      expect(accessOf(policyOf(mode), aRun({ type }))).toEqual({ mode, allowedHosts });
    }
  });

  it.each(['public', 'allowlist'] as const)('is a list of its own when it is not, under %s', (mode) => {
    const setting = 'SANDBOX_UNTRUSTED_HOSTS';
    expect(accessOf(policyOf(mode), fork)).toEqual({ mode: 'allowlist', allowedHosts: [], setting });
    expect(accessOf(policyOf(mode, ['npm.example']), fork)).toEqual({
      ...{ mode: 'allowlist', allowedHosts: ['npm.example'], setting },
    });
  });

  it('is nothing for anybody under none', () => {
    for (const run of [fork, aRun()]) {
      expect(accessOf(policyOf('none', ['npm.example']), run)).toEqual({ mode: 'none' });
    }
  });
});

describe('the log of a run that is not trusted', () => {
  const said = (access: NetworkAccess) => {
    const { network } = aNetwork(access, true);
    const [first, second] = [aLog(), aLog()];
    network.tellTo(first);
    network.tellTo(second);
    expect(second.lines).toEqual([]);
    return first.lines;
  };
  const setting = 'SANDBOX_UNTRUSTED_HOSTS';

  it('says once what it may reach, and by which setting', () => {
    expect(said({ mode: 'allowlist', allowedHosts: ['a.example', '*.b.example'], setting })).toEqual([
      '[network: this run is not trusted and may reach a.example, *.b.example only (SANDBOX_UNTRUSTED_HOSTS)]',
    ]);
    expect(said({ mode: 'allowlist', allowedHosts: [], setting })).toEqual([
      '[network: this run is not trusted and may reach nothing: SANDBOX_UNTRUSTED_HOSTS of the server is empty, where an operator lists package registries]',
    ]);
    expect(said({ mode: 'none' })).toEqual(['[network: this run may reach nothing (SANDBOX_NETWORK=none)]']);
  });

  it('is not filled by a long list', () => {
    const many = Array.from({ length: 100 }, (_, n) => `host-${n}.example`);
    const [line = ''] = said({ mode: 'allowlist', allowedHosts: many, setting });
    expect(line).toContain('host-19.example and 80 more only');
  });
});

describe('the network of a half', () => {
  it('is not opened where there is none', async () => {
    const { network, opened } = aNetwork({ mode: 'none' });
    expect(await network.open()).toBeNull();
    expect(opened).toEqual([]);
  });

  it('is opened once, and tells the log of the command that runs', async () => {
    const { network, opened, connect, end } = aNetwork({ mode: 'public', allowedHosts });
    expect(await network.open()).toBe(await network.open());
    expect(opened).toMatchObject([{ access: { mode: 'public', allowedHosts } }]);
    const [first, second] = [aLog(), aLog()];

    network.tellTo(first);
    connect();
    end();
    await network.summarize();
    network.tellTo(second);
    opened[0]?.options.onConnection?.({
      ...{ host: '10.0.0.1', port: 80, decision: 'private address', isAllowed: false },
    });
    await network.summarize();

    expect(first.lines).toEqual([summary]);
    expect(second.lines).toEqual(['[network: 10.0.0.1:80 was refused: private address]']);
  });

  it('waits for what is about to end with its command', async () => {
    const { network, connect, end } = aNetwork({ mode: 'public', allowedHosts });
    await network.open();
    const log = aLog();
    network.tellTo(log);
    connect();
    setImmediate(end);
    await network.summarize();

    expect(log.lines).toEqual([summary]);
  });

  it('tells at its end what outlived the last command, and stores it', async () => {
    const { network, connect, end, atClosing } = aNetwork({ mode: 'public', allowedHosts });
    await network.open();
    const log = aLog();
    network.tellTo(log);
    connect();
    await network.summarize();
    expect(log.lines).toEqual([]);
    atClosing(end);
    await network[Symbol.asyncDispose]();

    expect(log.lines).toEqual([summary]);
    expect(log.flushedLines()).toBe(1);
  });

  it('ends as it would when the last lines cannot be stored', async () => {
    const { network, connect, end } = aNetwork({ mode: 'public', allowedHosts });
    await network.open();
    network.tellTo({ line: () => undefined, flush: () => Promise.reject(new Error('the disk is full')) });
    connect();
    end();
    await network[Symbol.asyncDispose]();
  });
});
