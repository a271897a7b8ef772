/** What commands say to the proxy of their run, said by a test. */
import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** An open tunnel, or why there is none. */
export function openTunnel(socketPath: string, authority: string): Promise<Socket | Answer> {
  return new Promise((resolve, reject) => {
    const asking = request({ socketPath, method: 'CONNECT', path: authority });
    asking.once('error', reject);
    asking.once('connect', (response, socket, head) => {
      if (response.statusCode === 200) {
        if (head.length > 0) socket.unshift(head);
        resolve(socket as Socket);
        return;
      }
      let body = head.toString();
      socket.on('data', (chunk: Buffer) => {
        body += chunk.toString();
      });
      socket.once('end', () => {
        socket.destroy();
        resolve({ status: response.statusCode ?? 0, body });
      });
    });
    asking.end();
  });
}

/** Plain http in absolute form. */
export function forwarded(
  socketPath: string,
  url: string,
  { method = 'GET', body }: { readonly method?: string; readonly body?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const read = (response: IncomingMessage) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.once('error', reject);
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
    };
    const headers = { 'proxy-connection': 'keep-alive', 'proxy-authorization': 'Basic bWluZQ==' };
    request({ socketPath, method, path: url, headers }, read).once('error', reject).end(body);
  });
}

export function refusalOf(opened: Socket | Answer): Answer {
  if ('status' in opened) return opened;
  opened.destroy();
  throw new Error('a tunnel was opened');
}

export function tunnelOf(opened: Socket | Answer): Socket {
  if ('status' in opened) throw new Error(`no tunnel was opened: ${opened.status} ${opened.body}`);
  return opened;
}
