import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a state service does besides keeping the state. */
export type Behaviour = 'plain' | 'locked' | 'slow';

/** Long enough for an interrupt or two. */
const slowMs = 2_000;

const lock = {
  ID: '11111111-1111-4111-8111-111111111111',
  Operation: 'OperationTypeApply',
  Info: '',
  Who: 'somebody@elsewhere',
  Version: '1.11.4',
  Created: '2026-01-01T00:00:00Z',
  Path: '',
};

export interface StateService extends AsyncDisposable {
  readonly url: string;
  /** For `init -backend-config`. */
  readonly backendConfig: string;
  behave(behaviour: Behaviour): void;
}

/** The other side of the backend `http`: one state and its lock. */
export async function serveState(): Promise<StateService> {
  let behaviour: Behaviour = 'plain';
  let state: string | null = null;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    if (request.method === 'GET') return void response.writeHead(state === null ? 404 : 200).end(state ?? '');
    if (request.method === 'LOCK' && behaviour === 'locked') {
      return void response.writeHead(423).end(JSON.stringify(lock));
    }
    if (request.method === 'POST') {
      if (behaviour === 'slow') await sleep(slowMs);
      state = body;
    }
    response.writeHead(200).end();
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const addresses = ['address', 'lock_address', 'unlock_address'];
  return {
    url,
    backendConfig: addresses.map((name) => `${name} = "${url}/state"\n`).join(''),
    behave: (wanted) => {
      behaviour = wanted;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}
