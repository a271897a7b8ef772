import { isIP, Socket } from 'node:net';
import { getCACertificates } from 'node:tls';
import { buildConnector } from 'undici';
import { TargetBlocked, type TargetGuard } from './target-guard.ts';

/** Connect and TLS handshake, the guard's own 3 seconds for names not counted. */
const connectTimeoutMs = 5000;

/**
 * Opens the sockets of one origin, each of them judged by the guard: before, with all addresses of the name,
 * to which the socket is then pinned, and after, with the address it reached.
 */
export function guardedConnector(
  guard: TargetGuard,
  port: number,
  authorities: readonly string[] | null,
  /** Sees each socket before it is connected. */
  onSocket: (socket: Socket) => void = () => undefined,
): buildConnector.connector {
  const open = buildConnector({
    timeout: connectTimeoutMs,
    allowH2: false,
    // Written out, so that NODE_TLS_REJECT_UNAUTHORIZED in the environment cannot turn it off.
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    autoSelectFamily: true,
    ...(authorities && { ca: [...authorities] }),
    // Node asks this for names only.
    lookup(hostname, options, callback) {
      guard.resolve(hostname, port).then(
        (addresses) => {
          const answers = addresses.map((address) => ({ address, family: isIP(address) }));
          const [first] = answers;
          if (options.all) callback(null, answers);
          else if (first) callback(null, first.address, first.family);
        },
        (error: NodeJS.ErrnoException) => callback(error, []),
      );
    },
  });

  return (target, callback) => {
    const { hostname } = target;
    // A literal address never comes to `lookup`.
    if (isIP(hostname) !== 0 && !guard.allows(hostname, port, hostname)) {
      callback(new TargetBlocked('the address is not allowed'), null);
      return;
    }
    // undici's connector returns the socket, its types do not say so.
    const opening: unknown = open(target, (error, socket) => {
      if (error !== null) {
        callback(error, null);
        return;
      }
      const reached = socket.remoteAddress;
      if (reached !== undefined && guard.allows(hostname, port, reached)) {
        callback(null, socket);
        return;
      }
      socket.destroy();
      // Without an address the other side has closed it already.
      const closed = Object.assign(new Error('closed at once'), { code: 'ECONNRESET' });
      callback(reached === undefined ? closed : new TargetBlocked('another address was reached'), null);
    });
    if (opening instanceof Socket) onSocket(opening);
  };
}

/** The usual authorities and those of a bundle: naming any to TLS alone would drop the usual ones. */
export function withUsualAuthorities(bundle: string | null): readonly string[] | null {
  return bundle === null ? null : [...getCACertificates('default'), bundle];
}
