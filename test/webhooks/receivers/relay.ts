import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { request as send } from 'undici';
import { closeServer, listen } from '../receiver.ts';

/** What is on its way to a receiver. */
export interface Passing {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Somebody between the sender and a receiver, who changes what passes. */
export async function startRelay(
  target: string,
  change: (passing: Passing) => Partial<Passing>,
): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(async (request, response) => {
    const { host, connection, 'content-length': length, ...headers } = request.headers;
    const passing = { headers: headers as Record<string, string>, body: await buffer(request) };
    const answer = await send(target, { method: 'POST', ...passing, ...change(passing) });
    await answer.body.dump();
    response.writeHead(answer.statusCode).end();
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await closeServer(server, []);
    },
  };
}

/** Without those headers. */
export function without(headers: Passing['headers'], pattern: RegExp): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !pattern.test(name)));
}
