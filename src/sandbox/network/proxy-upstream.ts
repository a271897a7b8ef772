/**
 * The way out of a network that has no other: a proxy of the operator (SANDBOX_UPSTREAM_PROXY), which is asked for every
 * destination by its name. Its own address may be private: it is the operator's word, and no run can change it.
 */
import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';

export interface UpstreamProxy {
  readonly host: string;
  readonly port: number;
  readonly credentials: { readonly user: string; readonly password: string } | null;
}

/** What runs are told of an answer; error pages of proxies are longer. */
const maxRefusalLength = 200;

/** The headers that a request to the proxy needs. */
export function upstreamHeaders({ credentials }: UpstreamProxy): Record<string, string> {
  return credentials === null ? {} : { 'proxy-authorization': `Basic ${basic(credentials)}` };
}

/**
 * Makes a connection to the proxy one to `authority` (`host:port`). Gives what the destination has said already; rejects
 * with a reason that is fit for a log. The time for it is that of the socket.
 */
export function askUpstream(socket: Socket, proxy: UpstreamProxy, authority: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const asking = request({
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, ...upstreamHeaders(proxy) },
      createConnection: () => socket,
    });
    asking.once('error', reject);
    asking.once('connect', (answer, _socket, head) => {
      if (answer.statusCode !== undefined && answer.statusCode >= 200 && answer.statusCode < 300)
        resolve(head);
      else reject(new Error(upstreamRefusal(answer, head, proxy)));
    });
    asking.end();
  });
}

/** Whatever it repeats of what it was told, the credentials stay out of logs. */
export function upstreamRefusal(
  {
    statusCode,
    statusMessage = '',
    headers,
  }: Pick<IncomingMessage, 'statusCode' | 'statusMessage' | 'headers'>,
  body: Buffer,
  { credentials }: UpstreamProxy,
): string {
  const text = headers['content-type']?.startsWith('text/plain') ? body.toString('utf8') : '';
  const secrets = credentials === null ? [] : [basic(credentials), credentials.password];
  const said = secrets
    .filter((secret) => secret !== '')
    .reduce((words, secret) => words.replaceAll(secret, '***'), [statusMessage, text].join(' '))
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
    .replace(/[\s\x00-\x1f\x7f-\x9f]+/g, ' ')
    .trim()
    .slice(0, maxRefusalLength);
  return `the upstream proxy answered ${statusCode ?? 'nothing'} ${said}`.trimEnd();
}

function basic({ user, password }: NonNullable<UpstreamProxy['credentials']>): string {
  return Buffer.from(`${user}:${password}`).toString('base64');
}
