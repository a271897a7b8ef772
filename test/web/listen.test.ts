import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../src/logger.ts';
import { listen } from '../../src/web/listen.ts';
import { anInstallation, type Installation } from './installation.ts';

const logger = createLogger('silent');

async function listening(installation: Installation, graceMs = 200) {
  const server = await listen(installation.web, { host: '127.0.0.1', port: 0, logger, graceMs });
  return { server, port: Number(new URL(server.url).port) };
}

/** Writes what it is given and resolves with all that comes back until the server closes. */
function raw(port: number, head: string, more?: (socket: Socket) => void): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(head);
      more?.(socket);
    });
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk.toString();
    });
    socket.on('close', () => resolve(answer));
    // The server may close before all was written.
    socket.on('error', (error: NodeJS.ErrnoException) => (answer === '' ? reject(error) : undefined));
  });
}

describe('listening', () => {
  it('serves, and stops without waiting for kept connections', async () => {
    await using installation = anInstallation();
    const { server } = await listening(installation, 60_000);

    const response = await fetch(`${server.url}/healthz`);
    const body = await response.json();
    await server[Symbol.asyncDispose]();

    expect(body).toEqual({ status: 'ok' });
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
  });

  it('says where a request comes from', async () => {
    await using installation = anInstallation();
    const addresses: (string | undefined)[] = [];
    const web: Installation['web'] = {
      ...installation.web,
      fetch: (request, address) => {
        addresses.push(address);
        return installation.web.fetch(request, address);
      },
    };
    await using server = await listen(web, { host: '127.0.0.1', port: 0, logger });

    await (await fetch(`${server.url}/healthz`)).json();

    expect(addresses).toEqual(['127.0.0.1']);
  });

  it('says in one line when the port is taken', async () => {
    await using installation = anInstallation();
    const { server, port } = await listening(installation);
    await using _ = server;

    const second = listen(installation.web, { host: '127.0.0.1', port, logger });

    await expect(second).rejects.toMatchObject({
      code: 'cannot-listen',
      message: expect.stringContaining('taken'),
    });
  });

  it('refuses what is announced too large before it is sent', async () => {
    await using installation = anInstallation({
      github: {
        maxBodyBytes: 1000,
        receive: async ({ body }) => ({
          status: body === 'too-large' ? 413 : 202,
          problem: body === 'too-large' ? { code: 'payload-too-large', message: 'large' } : null,
        }),
      },
    });
    const { server, port } = await listening(installation);
    await using _ = server;

    const answer = await raw(
      port,
      'POST /api/github/webhooks HTTP/1.1\r\nhost: a\r\ncontent-length: 30000000\r\n\r\n',
    );

    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('"code":"payload-too-large"');
    expect(answer.toLowerCase()).toContain('connection: close');
  });

  it('refuses what turns out too large while it is sent', async () => {
    await using installation = anInstallation({
      github: {
        maxBodyBytes: 100_000,
        receive: async ({ body }) =>
          body === 'too-large'
            ? { status: 413, problem: { code: 'payload-too-large', message: 'Too large.' } }
            : { status: 202, problem: null },
      },
    });
    const { server, port } = await listening(installation);
    await using _ = server;
    const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;

    const answer = await raw(
      port,
      'POST /api/github/webhooks HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n',
      (socket) => {
        // Never ends by itself.
        const send = (): void => {
          if (socket.writable) socket.write(chunk, () => send());
        };
        send();
      },
    );

    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('answers a request that cannot be read', async () => {
    await using installation = anInstallation();
    const { server, port } = await listening(installation);
    await using _ = server;

    const answer = await raw(port, 'GET / HTTP/1.1\r\nhost: a b\r\nconnection: close\r\n\r\n');

    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('malformed-request');
    expect(answer).toContain('nosniff');
  });

  it("takes GitHub's deliveries whole or not at all while it stops", async () => {
    const stored: string[] = [];
    await using installation = anInstallation({
      github: {
        maxBodyBytes: 1000,
        receive: async ({ body }) => {
          if (body !== 'too-large') stored.push(Buffer.from(body).toString());
          return { status: 202, problem: null };
        },
      },
    });
    const { server, port } = await listening(installation, 500);
    const head = 'POST /api/github/webhooks HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\n';
    const begun = [Promise.withResolvers<Socket>(), Promise.withResolvers<Socket>()] as const;
    const answers = begun.map(({ resolve }) => raw(port, `${head}12345`, resolve));
    const [inTime] = await Promise.all(begun.map(({ promise }) => promise));
    // Both are being read by now: what comes later on a new connection is answered after them.
    await fetch(`${server.url}/healthz`).then((response) => response.arrayBuffer());

    const stopped = server[Symbol.asyncDispose]();
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
    inTime?.write('67890');
    await stopped;

    const [whole, half] = await Promise.allSettled(answers);
    expect(whole).toMatchObject({ value: expect.stringMatching(/^HTTP\/1\.1 202 /) });
    expect(half).toMatchObject({ value: '' });
    expect(stored).toEqual(['1234567890']);
  });

  it('ends followed logs when it stops', async () => {
    await using installation = anInstallation();
    const run = await installation.addRun(await installation.addStack());
    const token = await installation.token('reader');
    const { server } = await listening(installation, 60_000);
    const stream = await fetch(`${server.url}/api/v1/runs/${run.id}/logs/stream`, {
      headers: { authorization: `Bearer ${token}` },
    });

    const [text] = await Promise.all([stream.text(), server[Symbol.asyncDispose]()]);

    expect(text).toContain('retry: 1000');
  });
});
