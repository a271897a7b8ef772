import { isIP } from 'node:net';
import { UserError } from '../../user-error.ts';
import {
  type Address,
  behindNat64,
  isLoopback,
  isMetadata,
  isPrivateNetwork,
  isPublic,
  parseAddress,
} from './addresses.ts';
import type { AllowedTargets } from './allowed-targets.ts';
import { type EndpointUrl, parseEndpoint } from './endpoint-url.ts';
import { createResolver, type Resolve } from './name-resolver.ts';

/**
 * Which hosts webhooks may talk to (SSRF). Asked three times: when an endpoint is saved, which is a
 * courtesy; with the resolved addresses before each connection, which is the authority; and with the
 * address a socket really reached. It refuses to know webhooks, and opens no connection itself.
 */
export interface TargetGuard {
  /** For an endpoint that somebody wants to save. Throws UserError `endpoint-refused` with the reason. */
  accept(endpoint: string): Promise<EndpointUrl>;
  /**
   * The addresses to connect to, all of them judged: one bad answer refuses the name, so that there is no
   * race to win. Throws TargetBlocked, or the resolver's error.
   */
  resolve(hostname: string, port: number): Promise<readonly string[]>;
  allows(hostname: string, port: number, address: string): boolean;
}

/** Thrown before or instead of a connection. The message is the reason, fit for the webhook's page. */
export class TargetBlocked extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'TargetBlocked';
  }
}

export function createTargetGuard(parts: {
  readonly allowed: AllowedTargets;
  /** Instead of the operating system's. */
  readonly resolve?: Resolve;
}): TargetGuard {
  const { allowed } = parts;
  const resolveName = createResolver(parts.resolve);

  function refusal(hostname: string, port: number, text: string): string | null {
    const address = parseAddress(text);
    if (address === null) return 'the host has an address that cannot be read';
    if (port === 0) return 'port 0 does not exist';
    return refusalOf(hostname, port, address);
  }

  function refusalOf(hostname: string, port: number, address: Address): string | null {
    if (isMetadata(address)) {
      return allowed.allowsExactly(address, port)
        ? null
        : 'the host is a metadata service, which must be allowed by its exact address';
    }
    if (allowed.allowsAddress(address, port)) {
      // A gateway that is listed carries no one to where they may not go directly.
      const inner = behindNat64(address);
      return inner === null ? null : refusalOf(hostname, port, inner);
    }
    if (allowed.allowsName(hostname, port)) return refusalOfListedName(hostname, address);
    if (!isPublic(address)) return 'the host is not on the public internet';
    return refusalOfUnlisted(hostname, port);
  }

  async function resolve(hostname: string, port: number): Promise<readonly string[]> {
    const addresses = isIP(hostname) === 0 ? await resolveName(hostname) : [hostname];
    const reasons = addresses.map((address) => refusal(hostname, port, address));
    const reason = reasons.find((text) => text !== null);
    if (reason !== undefined && reason !== null) throw new TargetBlocked(reason);
    return addresses;
  }

  /** A name without addresses today is accepted when nothing but its addresses could speak against it. */
  function refusalOfUnresolved({ hostname, port }: EndpointUrl): string | null {
    if (port === 0) return 'port 0 does not exist';
    return allowed.allowsName(hostname, port) ? null : refusalOfUnlisted(hostname, port);
  }

  return {
    resolve,
    allows: (hostname, port, address) => refusal(hostname, port, address) === null,
    async accept(raw) {
      const endpoint = parseEndpoint(raw);
      if ('refused' in endpoint) throw refused(endpoint.refused);
      try {
        await resolve(endpoint.hostname, endpoint.port);
      } catch (error) {
        const reason = error instanceof TargetBlocked ? error.message : refusalOfUnresolved(endpoint);
        if (reason !== null) {
          throw refused(reason, 'An operator can allow the target with WEBHOOK_ALLOWED_TARGETS.');
        }
      }
      return endpoint;
    },
  };
}

function refused(reason: string, hint?: string): UserError {
  return new UserError('endpoint-refused', `The endpoint cannot be used: ${reason}.`, {
    issues: [{ path: 'endpoint', message: reason }],
    ...(hint === undefined ? {} : { hint }),
  });
}

/**
 * Whoever answers for a listed name decides where it leads, so it opens networks, not this machine: that
 * takes an address. Only a name that always means this machine means it when it is listed.
 */
function refusalOfListedName(hostname: string, address: Address): string | null {
  if (isPublic(address) || isPrivateNetwork(address)) return null;
  if (isLoopback(address) && isUnder(hostname, 'localhost')) return null;
  return 'the host is listed by name, which opens private networks only: list its address instead';
}

function refusalOfUnlisted(hostname: string, port: number): string | null {
  if (isLocalName(hostname)) return 'the host has a local name';
  return isUsualPort(port) ? null : `port ${port} belongs to another service`;
}

/** Names that mean something else on every machine or network (RFC 6761, 6762, 8375, 9476; ICANN's .internal). */
const localSuffixes = [
  ...['localhost', 'localdomain', 'localdomain4', 'localdomain6', 'local', 'internal', 'arpa', 'alt', 'svc'],
  // Never delegated, because too many networks use them for themselves (RFC 6762, appendix G).
  ...['lan', 'home', 'corp', 'intranet', 'private'],
];

function isLocalName(hostname: string): boolean {
  if (isIP(hostname) !== 0) return false;
  return !hostname.includes('.') || localSuffixes.some((suffix) => isUnder(hostname, suffix));
}

function isUnder(hostname: string, suffix: string): boolean {
  return hostname === suffix || hostname.endsWith(`.${suffix}`);
}

/**
 * Databases, container engines, orchestrators and caches that answer to HTTP, or do harm when spoken to in
 * it. Ports below 1024 other than the web's own are services too.
 */
const servicePorts: ReadonlySet<number> = new Set([
  1433, 2049, 2375, 2376, 2379, 2380, 3306, 5432, 5984, 6379, 8500, 9200, 9300, 10_250, 11_211, 27_017,
]);

function isUsualPort(port: number): boolean {
  return port === 80 || port === 443 || (port >= 1024 && !servicePorts.has(port));
}
